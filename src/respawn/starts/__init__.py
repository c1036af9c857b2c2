"""Files of hard starts that come with the package; schedules/start_files.py reads them by name, without `.json`."""
