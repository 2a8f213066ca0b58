-- A stock market: 100 symbols, and four questions that are answered again every second.
-- All four are answered from one scan of the ticks.

CREATE STREAM ticks (ts TIMESTAMP, symbol STRING, price DOUBLE, volume INT)
  USING parquet OPTIONS (path 'demo-out/ticks')
  TIMESTAMP BY ts LATENESS 1 SECOND;

CREATE SINK vwap USING parquet OPTIONS (path 'demo-out/vwap');
CREATE SINK movers USING parquet OPTIONS (path 'demo-out/movers');
CREATE SINK volatility USING parquet OPTIONS (path 'demo-out/volatility');
CREATE SINK market USING parquet OPTIONS (path 'demo-out/market');

-- the volume-weighted average price of each stock
INSERT INTO vwap
SELECT symbol, SUM(price * volume) / SUM(volume) AS vwap, SUM(volume) AS volume
FROM ticks [RANGE 1 MINUTE SLIDE 1 SECOND]
GROUP BY symbol;

-- the five stocks that moved most, up or down
INSERT INTO movers
SELECT symbol, 100 * (LAST(price) / FIRST(price) - 1) AS percent
FROM ticks [RANGE 1 MINUTE SLIDE 1 SECOND]
GROUP BY symbol
ORDER BY ABS(percent) DESC LIMIT 5;

-- how far each price swings
INSERT INTO volatility
SELECT symbol, STDDEV(price) AS stddev, MIN(price) AS low, MAX(price) AS high
FROM ticks [RANGE 5 MINUTES SLIDE 1 SECOND]
GROUP BY symbol;

-- the whole market
INSERT INTO market
SELECT COUNT(*) AS trades, SUM(volume) AS volume, SUM(price * volume) AS turnover
FROM ticks [RANGE 1 MINUTE SLIDE 1 SECOND];
