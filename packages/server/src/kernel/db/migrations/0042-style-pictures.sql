-- What a map looks like, as drawn by whoever saved it. The digest is that of the style that was drawn: a picture of another is not shown.
CREATE TABLE svc.style_pictures (
  style_id uuid PRIMARY KEY REFERENCES svc.styles ON DELETE CASCADE,
  picture bytea NOT NULL CONSTRAINT picture_size CHECK (octet_length(picture) <= 262144),
  width int NOT NULL,
  height int NOT NULL,
  style_digest text NOT NULL
);
