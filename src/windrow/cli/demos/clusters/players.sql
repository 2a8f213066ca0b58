-- Players on a field, who say several times a second where they are. Those that keep together are a cluster.

CREATE STREAM positions (ts TIMESTAMP, id STRING, x DOUBLE, y DOUBLE, speed DOUBLE)
  USING parquet OPTIONS (path 'demo-out/positions')
  TIMESTAMP BY ts LATENESS 0.5 SECONDS;

CREATE SINK players USING parquet OPTIONS (path 'demo-out/players');

-- cid is a number that a cluster keeps from window to window
INSERT INTO players
SELECT cid, CENTER(cid) AS center, RADIUS(cid) AS radius, COUNT(cid) AS size, AVG(speed) AS speed,
       CONVEX_HULL(cid) AS hull
FROM positions [RANGE 2 SECONDS SLIDE 0.5 SECONDS]
CLUSTER BY x, y AS cid USING C_BIRCH(6);
