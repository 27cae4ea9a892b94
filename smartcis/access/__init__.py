"""Access: who acts, and what they may see and have."""
