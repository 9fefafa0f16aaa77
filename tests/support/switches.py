"""What the value of an environment variable that is a switch means, in Python and in C++: the rule, stated once."""

from __future__ import annotations

OFF = ("0", "false", "no", "off", "False", "NO", "oFf", " 0", "off\t", "\x1fno\n")
ON = ("1", "true", "yes", "on", "2", "00", "none", "disabled", "of", "offf", "0 0", " ", "-")
VALUES = {**dict.fromkeys(OFF, False), **dict.fromkeys(ON, True)}
