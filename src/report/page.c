/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "report/page.h"

#include <inttypes.h>
#include <string.h>
#include <time.h>

#include "base/size.h"
#include "base/utf8.h"
#include "report/page_charts.h"
#include "report/page_style.h"
#include "report/verdict.h"

static void write_character(FILE *out, const char *text, unsigned length)
{
	if (length == 0 || (unsigned char)*text < ' ')
		fputs("\xef\xbf\xbd", out);
	else if (strchr("&<>\"'", *text))
		fprintf(out, "&#%d;", *text);
	else
		fwrite(text, 1, length, out);
}

void page_text(FILE *out, const char *text)
{
	size_t left = strlen(text);

	while (left > 0) {
		uint32_t character;
		unsigned length = utf8_decode(text, left, &character);

		if (length && utf8_is_surrogate(character))
			length = 0;
		write_character(out, text, length);
		text += length ? length : 1;
		left -= length ? length : 1;
	}
}

static double part(uint64_t of, uint64_t all)
{
	return all ? 100 * (double)of / (double)all : 0;
}

static void write_head(const struct figures *f, FILE *out)
{
	fputs("<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\n"
	      "<meta name=\"viewport\" content=\"width=device-width,initial-scale=1\">\n"
	      "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; "
	      "style-src 'unsafe-inline'\">\n"
	      "<title>granaryfs: report of a trace</title>\n<style>\n", out);
	fputs(page_style, out);
	fputs("</style></head><body><main>\n<h1>What the mount did</h1>\n<p class=\"soft\">", out);
	page_text(out, f->dataset ? f->dataset : "a trace of another program");
	if (f->mountpoint) {
		fputs(" at ", out);
		page_text(out, f->mountpoint);
	}
}

static void write_when(const struct figures *f, FILE *out)
{
	time_t seconds = (time_t)(f->first / 1000000);
	char text[64] = "";
	struct tm when;

	if (gmtime_r(&seconds, &when))
		strftime(text, sizeof(text), "%Y-%m-%d %H:%M:%S UTC", &when);
	fprintf(out, ", from %s, for %.1f seconds</p>\n", text, figures_seconds(f));
	if (f->dropped)
		fprintf(out, "<p class=\"soft\">%" PRIu64 " events were dropped, since the trace's "
			"writer fell behind: the figures are too low.</p>\n", f->dropped);
	if (f->cut)
		fputs("<p class=\"soft\">The end of the trace is missing: its writer was killed, "
		      "or is still at work.</p>\n", out);
	if (f->unknown_lines)
		fprintf(out, "<p class=\"soft\">%" PRIu64 " lines of the trace could not be read, "
			"and are left out.</p>\n", f->unknown_lines);
}

static void write_verdict(const struct figures *f, FILE *out)
{
	char text[VERDICT_BYTES];

	verdict_of(f, text);
	fputs("<section class=\"verdict\"><h2>What held the loader back</h2><p>", out);
	page_text(out, text);
	fputs("</p></section>\n", out);
}

static void write_tile(FILE *out, const char *value, const char *what)
{
	fprintf(out, "<div class=\"tile\"><b>%s</b><span>%s</span></div>\n", value, what);
}

static void write_tiles(const struct figures *f, FILE *out)
{
	char text[SIZE_TEXT_BYTES];

	fputs("<div class=\"tiles\">\n", out);
	write_tile(out, size_text(f->served, text), "served to readers");
	write_tile(out, size_text(f->stored, text), "read from storage");
	write_tile(out, count_text(f->reads, text), "reads that reached the mount");
	snprintf(text, sizeof(text), "%.1f %%", part(f->hits, f->reads));
	write_tile(out, text, "of them without a read of storage");
	if (f->opens) {
		write_tile(out, count_text(f->opens, text), "opens that were seen");
		snprintf(text, sizeof(text), "%.1f %%", figures_cached(f));
		write_tile(out, text, "of them answered from the page cache");
	}
	snprintf(text, sizeof(text), "%.1f %%", (double)f->waiting_permille / 10);
	write_tile(out, text, "of the time with a reader waiting");
	if (f->errors)
		write_tile(out, count_text(f->errors, text), "reads that failed");
	fputs("</div>\n", out);
}

static void write_epoch(FILE *out, uint32_t number, const struct epoch *epoch)
{
	char files[SIZE_TEXT_BYTES], served[SIZE_TEXT_BYTES], stored[SIZE_TEXT_BYTES];
	double seconds = (double)(epoch->end - epoch->begin) / 1e6;

	fprintf(out, "<tr><td>%" PRIu32 "</td><td>%.1f s</td><td>%.1f s</td><td>%s</td>"
		"<td>%.0f</td><td>%s</td><td>%s</td><td>", number, (double)epoch->begin / 1e6,
		seconds, count_text(epoch->files, files),
		seconds > 0 ? (double)epoch->files / seconds : 0, size_text(epoch->served, served),
		size_text(epoch->stored, stored));
	if (epoch->reads)
		fprintf(out, "%.1f %%", part(epoch->hits, epoch->reads));
	else
		fputs("all by the kernel", out);
	fputs("</td></tr>\n", out);
}

static void write_epochs(const struct figures *f, FILE *out)
{
	uint32_t shown = f->epoch_count < EPOCHS_MOST ? f->epoch_count : EPOCHS_MOST;

	fputs("<section><h2>Epochs, as the mount saw them</h2><div class=\"wide\"><table><tr>"
	      "<th>epoch</th><th>begins at</th><th>takes</th><th>files</th><th>files/s</th>"
	      "<th>served</th><th>storage</th><th>hit rate</th></tr>\n", out);
	for (uint32_t i = 0; i < shown; i++)
		write_epoch(out, i + 1, &f->epochs[i]);
	fputs("</table></div>\n", out);
	if (f->epoch_count > shown)
		fprintf(out, "<p class=\"soft\">and %" PRIu32 " more, which the last line holds."
			"</p>\n", f->epoch_count - shown);
	fputs("<p class=\"soft\">Files that the kernel has in its page cache reach the mount only "
	      "where programs send an ioctl at each open(), as Python before 3.14 does.</p>"
	      "</section>\n", out);
}

static void write_shard(const struct figures *f, FILE *out, const struct shard *shard)
{
	char reads[SIZE_TEXT_BYTES], bytes[SIZE_TEXT_BYTES], rate[SIZE_TEXT_BYTES];
	double us = (double)shard->time_us;

	fputs("<tr><td class=\"path\">", out);
	page_text(out, trace_files_path(&f->files, shard->file));
	fprintf(out, "</td><td>%s</td><td>%s</td><td>%.2f ms</td><td>%.2f ms</td><td>%s/s</td>"
		"</tr>\n", count_text(shard->reads, reads), size_text(shard->bytes, bytes),
		shard->reads ? us / (double)shard->reads / 1000 : 0,
		(double)shard->longest_us / 1000,
		size_text(us > 0 ? (uint64_t)((double)shard->bytes / us * 1e6) : 0, rate));
}

static void write_shards(const struct figures *f, FILE *out)
{
	struct shard slowest[SHARDS_SHOWN];
	uint32_t count = figures_slowest(f, slowest);

	if (!count)
		return;
	fputs("<section><h2>Slowest packed files</h2><div class=\"wide\"><table><tr><th>file</th>"
	      "<th>reads</th><th>bytes</th><th>mean</th><th>longest</th><th>each read</th></tr>\n",
	      out);
	for (uint32_t i = 0; i < count; i++)
		write_shard(f, out, &slowest[i]);
	fprintf(out, "</table></div><p class=\"soft\">%" PRIu32 " of %" PRIu32 ", by the mean time "
		"of a read.</p></section>\n", count, f->shard_count);
}

static void write_chart(const struct figures *f, FILE *out, const char *title,
			void (*chart)(const struct figures *f, FILE *out))
{
	fprintf(out, "<section><h2>%s</h2>\n", title);
	chart(f, out);
	fputs("</section>\n", out);
}

void page_write(const struct figures *f, FILE *out)
{
	write_head(f, out);
	write_when(f, out);
	write_verdict(f, out);
	write_tiles(f, out);
	write_chart(f, out, "Bandwidth", page_bandwidth);
	if (f->reads) {
		write_chart(f, out, "Reads that needed no storage", page_hit_rate);
		write_chart(f, out, "How long reads took", page_latency);
	}
	if (f->epoch_count)
		write_epochs(f, out);
	write_shards(f, out);
	fputs("</main></body></html>\n", out);
}
