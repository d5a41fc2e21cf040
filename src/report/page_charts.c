/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "report/page_charts.h"

#include <stdint.h>

#include "base/size.h"

enum { HEIGHT = 100, GRID = 25 };

static double bucket_seconds(const struct figures *f)
{
	return (double)((f->last - f->first) / SERIES_BUCKETS + 1) / 1e6;
}

static void begin_plot(FILE *out, const char *top, const char *middle, const char *bottom,
		       unsigned width, const char *label)
{
	fprintf(out, "<div class=\"plot\"><div class=\"y\"><span>%s</span><span>%s</span>"
		"<span>%s</span></div>"
		"<svg viewBox=\"0 0 %u %d\" preserveAspectRatio=\"none\" role=\"img\" "
		"aria-label=\"%s\">", top, middle, bottom, width, HEIGHT, label);
	for (int y = 0; y < HEIGHT; y += GRID)
		fprintf(out, "<line class=\"grid\" x1=\"0\" x2=\"%u\" y1=\"%d\" y2=\"%d\"/>",
			width, y, y);
}

static void end_time_plot(const struct figures *f, FILE *out)
{
	double seconds = figures_seconds(f);

	fprintf(out, "</svg><div class=\"x\"><span>0 s</span><span>%.3g s</span>"
		"<span>%.3g s</span></div></div>\n", seconds / 2, seconds);
}

/* A line over time; a negative value is a gap. */
static void draw_line(const struct figures *f, FILE *out, const char *class,
		      double (*value)(const struct figures *f, unsigned i), double top)
{
	bool drawing = false;

	for (unsigned i = 0; i < SERIES_BUCKETS; i++) {
		double y = value(f, i);

		if (y >= 0 && !drawing)
			fprintf(out, "<polyline class=\"%s\" points=\"", class);
		if (y < 0 && drawing)
			fputs("\"/>", out);
		drawing = y >= 0;
		if (drawing)
			fprintf(out, "%u,%.2f %u,%.2f ", i, HEIGHT - y / top * (HEIGHT - 2),
				i + 1, HEIGHT - y / top * (HEIGHT - 2));
	}
	if (drawing)
		fputs("\"/>", out);
}

static double served_at(const struct figures *f, unsigned i)
{
	return (double)f->series[i].served / bucket_seconds(f);
}

static double stored_at(const struct figures *f, unsigned i)
{
	return (double)f->series[i].stored / bucket_seconds(f);
}

static double pushed_at(const struct figures *f, unsigned i)
{
	return (double)f->series[i].pushed / bucket_seconds(f);
}

static double hits_at(const struct figures *f, unsigned i)
{
	const struct series_bucket *bucket = &f->series[i];

	return bucket->reads ? 100 * (double)bucket->hits / (double)bucket->reads : -1;
}

static double highest(const struct figures *f)
{
	double top = 1;

	for (unsigned i = 0; i < SERIES_BUCKETS; i++) {
		top = served_at(f, i) > top ? served_at(f, i) : top;
		top = stored_at(f, i) > top ? stored_at(f, i) : top;
		top = pushed_at(f, i) > top ? pushed_at(f, i) : top;
	}
	return top;
}

void page_bandwidth(const struct figures *f, FILE *out)
{
	char most[SIZE_TEXT_BYTES], half[SIZE_TEXT_BYTES], top[64], middle[64];
	double value = highest(f);

	snprintf(top, sizeof(top), "%s/s", size_text((uint64_t)value, most));
	snprintf(middle, sizeof(middle), "%s/s", size_text((uint64_t)(value / 2), half));
	begin_plot(out, top, middle, "0", SERIES_BUCKETS, "bandwidth over time");
	draw_line(f, out, "sa", served_at, value);
	draw_line(f, out, "sb", stored_at, value);
	if (f->pushed)
		draw_line(f, out, "sc", pushed_at, value);
	end_time_plot(f, out);
	fprintf(out, "<p class=\"key\"><span><i class=\"a\"></i>served to readers</span>"
		"<span><i class=\"b\"></i>read from storage</span>%s</p>\n",
		f->pushed ? "<span><i class=\"c\"></i>pushed into the page cache</span>" : "");
}

void page_hit_rate(const struct figures *f, FILE *out)
{
	begin_plot(out, "100 %", "50 %", "0 %", SERIES_BUCKETS, "hit rate over time");
	draw_line(f, out, "sa", hits_at, 100);
	end_time_plot(f, out);
}

static void duration_text(unsigned power, char out[32])
{
	double us = (double)(UINT64_C(1) << power);

	if (us < 1000)
		snprintf(out, 32, "%.0f us", us);
	else if (us < 1e6)
		snprintf(out, 32, "%.3g ms", us / 1000);
	else
		snprintf(out, 32, "%.3g s", us / 1e6);
}

static void draw_bar(FILE *out, const char *class, double x, uint64_t count, uint64_t top)
{
	double height = (double)count / (double)top * (HEIGHT - 2);

	if (count)
		fprintf(out, "<rect class=\"%s\" x=\"%.2f\" y=\"%.2f\" width=\".42\" "
			"height=\"%.2f\"/>", class, x, HEIGHT - height, height);
}

void page_latency(const struct figures *f, FILE *out)
{
	char top[SIZE_TEXT_BYTES], half[SIZE_TEXT_BYTES], from[32], middle[32], to[32];
	unsigned first = LATENCY_BUCKETS, last = 0;
	uint64_t most = 1;

	for (unsigned i = 0; i < LATENCY_BUCKETS; i++) {
		uint64_t hits = f->hit_latency[i], misses = f->miss_latency[i];

		if (hits || misses) {
			first = i < first ? i : first;
			last = i;
		}
		most = hits > most ? hits : most;
		most = misses > most ? misses : most;
	}
	first = first > last ? last : first;
	begin_plot(out, count_text(most, top), count_text(most / 2, half), "0",
		   last - first + 1, "latency of reads");
	for (unsigned i = first; i <= last; i++) {
		draw_bar(out, "fa", (double)(i - first) + .06, f->hit_latency[i], most);
		draw_bar(out, "fb", (double)(i - first) + .52, f->miss_latency[i], most);
	}
	duration_text(first, from);
	duration_text((first + last) / 2, middle);
	duration_text(last, to);
	fprintf(out, "</svg><div class=\"x\"><span>up to %s</span><span>%s</span><span>%s</span>"
		"</div></div>\n<p class=\"key\"><span><i class=\"ba\"></i>without storage</span>"
		"<span><i class=\"bb\"></i>with a read of storage</span></p>\n", from, middle, to);
}
