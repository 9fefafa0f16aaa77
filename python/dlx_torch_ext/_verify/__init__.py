"""What `dlx-torch verify` runs on the devices here: `worker` in a process of its own, with torch and ctypes."""
