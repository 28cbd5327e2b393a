"""Arrays without elements: functions become programs, with symbolic sizes."""
