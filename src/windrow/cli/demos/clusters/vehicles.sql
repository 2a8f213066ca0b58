-- A small town on a Monday morning: every car says every 30 seconds where it is and how fast, so that a window
-- of 30 seconds has each car once. Where those that are slow stand together, there is a congestion.

CREATE STREAM positions (ts TIMESTAMP, vehicle INT, x DOUBLE, y DOUBLE, speed DOUBLE)
  USING parquet OPTIONS (path 'demo-out/positions')
  TIMESTAMP BY ts LATENESS 1 SECOND;

CREATE SINK congestions USING parquet OPTIONS (path 'demo-out/congestions');

-- cid is a number that a congestion keeps from window to window, while it grows, moves and shrinks
INSERT INTO congestions
SELECT cid, CENTER(cid) AS center, RADIUS(cid) AS radius, COUNT(cid) AS size, AVG(speed) AS speed,
       CONVEX_HULL(cid) AS hull
FROM positions [RANGE 30 SECONDS SLIDE 3 SECONDS]
WHERE speed < 30
CLUSTER BY x, y AS cid USING C_BIRCH(50);
