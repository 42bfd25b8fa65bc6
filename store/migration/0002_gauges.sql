-- What a server said of itself during a measurement, about once a second: columns of numbers, as JSON.
ALTER TABLE autotune_measurement ADD COLUMN gauges TEXT;
