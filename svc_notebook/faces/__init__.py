"""What users see: functions, accessors, commands, magics, editors, the lab, tools of agents."""
