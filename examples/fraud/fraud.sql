-- Cards that spend more than their limit, or from several countries at once: alerts once into a topic, all sums into a lake.
CREATE STREAM tx (card STRING, country STRING, amount DOUBLE, ts TIMESTAMP, `offset` BIGINT METADATA)
  USING kafka OPTIONS (bootstrap '${broker}', topic 'tx') FORMAT json TIMESTAMP BY ts LATENESS 5 SECONDS;
CREATE TABLE limits USING jdbc OPTIONS (url '${database}', dbtable 'limits');

CREATE SINK dead USING kafka OPTIONS (bootstrap '${broker}', topic 'tx-dead') FOR REJECTED OF tx;
CREATE SINK alerts USING kafka OPTIONS (bootstrap '${broker}', topic 'alerts', key 'card') FORMAT json;
CREATE SINK places USING kafka OPTIONS (bootstrap '${broker}', topic 'places', key 'card') FORMAT json;
CREATE SINK sums USING delta OPTIONS (path '${folder}/sums');

INSERT INTO alerts
SELECT tx.card, SUM(amount) AS spent, MAX(most) AS most
FROM tx [RANGE 1 HOUR SLIDE 1 MINUTE] JOIN limits ON tx.card = limits.card GROUP BY tx.card HAVING SUM(amount) > MAX(most);

INSERT INTO places
SELECT card, COUNT(DISTINCT country) AS countries
FROM tx [RANGE 30 MINUTES SLIDE 1 MINUTE] GROUP BY card HAVING COUNT(DISTINCT country) > 3;

INSERT INTO sums
SELECT card, SUM(amount) AS spent, COUNT(*) AS n FROM tx [RANGE 1 HOUR SLIDE 1 MINUTE] GROUP BY card;
