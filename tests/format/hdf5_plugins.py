# SPDX-License-Identifier: GPL-3.0-or-later
"""Sets where Debian has the plug-ins of libhdf5, with which h5py reads and writes LZ4 and
Blosc, if the caller has not. To be imported before h5py, which asks once."""
import os
import sysconfig

os.environ.setdefault("HDF5_PLUGIN_PATH", "/usr/lib/%s/hdf5/serial/plugins" %
                      sysconfig.get_config_var("MULTIARCH"))
