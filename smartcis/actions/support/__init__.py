"""What several actions share."""
