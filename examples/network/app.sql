-- Connections of a host to the network, watched over the last ten minutes, hour, three hours, twelve hours and day at once.

CREATE STREAM connections (
  ts TIMESTAMP, host STRING, port INT, proto STRING, service STRING, duration DOUBLE, bytes BIGINT, state STRING)
  USING parquet OPTIONS (path 'connections', maxFilesPerTrigger '1')
  TIMESTAMP BY ts;

CREATE SINK bursts USING parquet OPTIONS (path 'answers/bursts');
CREATE SINK trends USING parquet OPTIONS (path 'answers/trends');
CREATE SINK recurring USING parquet OPTIONS (path 'answers/recurring');

-- Hosts that connect three times a minute or more, whether over ten minutes or over a day.
INSERT INTO bursts
SELECT host, COUNT(*) AS connections, MIN(port) AS lowest_port, MAX(port) AS highest_port,
  COUNT(*) / CASE level WHEN 0 THEN 10 WHEN 1 THEN 60 WHEN 2 THEN 180 WHEN 3 THEN 720 ELSE 1440 END AS a_minute
FROM connections [RANGES 1 DAY, 12 HOURS, 3 HOURS, 1 HOUR, 10 MINUTES
                  SLIDES 6 HOURS, 1 HOUR, 15 MINUTES, 5 MINUTES, 1 MINUTE]
GROUP BY host
HAVING COUNT(*) / CASE level WHEN 0 THEN 10 WHEN 1 THEN 60 WHEN 2 THEN 180 WHEN 3 THEN 720 ELSE 1440 END >= 3
ORDER BY connections DESC LIMIT 5;

-- Whether connections that were answered carry more and more: the trend of the logarithm of their bytes.
INSERT INTO trends
SELECT COUNT(*) AS connections, AVG(LN(1 + bytes)) AS mean,
  REGR_SLOPE(LN(1 + bytes), ts) AS slope, REGR_INTERCEPT(LN(1 + bytes), ts) AS intercept
FROM connections [RANGES 1 DAY, 12 HOURS, 3 HOURS, 1 HOUR, 10 MINUTES
                  SLIDES 6 HOURS, 1 HOUR, 15 MINUTES, 5 MINUTES, 1 MINUTE]
WHERE state = 'SF';

-- Hosts that were there in the last ten minutes, in the fifty before, in the two hours before, and so on through the day.
INSERT INTO recurring
SELECT host, COUNT(*) AS connections, MAX(ts) AS latest
FROM connections [RANGES 1 DAY, 12 HOURS, 3 HOURS, 1 HOUR, 10 MINUTES
                  SLIDES 6 HOURS, 1 HOUR, 15 MINUTES, 5 MINUTES, 1 MINUTE]
GROUP BY host HAVING level = 4 AND RECURRING(host)
ORDER BY connections DESC LIMIT 10;
