-- Optuna's tables, as Optuna 3.2 to 5.0 make them (alembic head v3.2.0.a).

CREATE TABLE studies (
	study_id INTEGER NOT NULL, 
	study_name VARCHAR(512) NOT NULL, 
	PRIMARY KEY (study_id)
);
CREATE UNIQUE INDEX ix_studies_study_name ON studies (study_name);
CREATE TABLE version_info (
	version_info_id INTEGER NOT NULL, 
	schema_version INTEGER, 
	library_version VARCHAR(256), 
	PRIMARY KEY (version_info_id), 
	CHECK (version_info_id=1)
);
CREATE TABLE study_directions (
	study_direction_id INTEGER NOT NULL, 
	direction VARCHAR(8) NOT NULL, 
	study_id INTEGER NOT NULL, 
	objective INTEGER NOT NULL, 
	PRIMARY KEY (study_direction_id), 
	UNIQUE (study_id, objective), 
	FOREIGN KEY(study_id) REFERENCES studies (study_id)
);
CREATE TABLE study_user_attributes (
	study_user_attribute_id INTEGER NOT NULL, 
	study_id INTEGER, 
	"key" VARCHAR(512), 
	value_json TEXT, 
	PRIMARY KEY (study_user_attribute_id), 
	UNIQUE (study_id, "key"), 
	FOREIGN KEY(study_id) REFERENCES studies (study_id)
);
CREATE TABLE study_system_attributes (
	study_system_attribute_id INTEGER NOT NULL, 
	study_id INTEGER, 
	"key" VARCHAR(512), 
	value_json TEXT, 
	PRIMARY KEY (study_system_attribute_id), 
	UNIQUE (study_id, "key"), 
	FOREIGN KEY(study_id) REFERENCES studies (study_id)
);
CREATE TABLE trials (
	trial_id INTEGER NOT NULL, 
	number INTEGER, 
	study_id INTEGER, 
	state VARCHAR(8) NOT NULL, 
	datetime_start DATETIME, 
	datetime_complete DATETIME, 
	PRIMARY KEY (trial_id), 
	FOREIGN KEY(study_id) REFERENCES studies (study_id)
);
CREATE INDEX ix_trials_study_id ON trials (study_id);
CREATE TABLE trial_user_attributes (
	trial_user_attribute_id INTEGER NOT NULL, 
	trial_id INTEGER, 
	"key" VARCHAR(512), 
	value_json TEXT, 
	PRIMARY KEY (trial_user_attribute_id), 
	UNIQUE (trial_id, "key"), 
	FOREIGN KEY(trial_id) REFERENCES trials (trial_id)
);
CREATE TABLE trial_system_attributes (
	trial_system_attribute_id INTEGER NOT NULL, 
	trial_id INTEGER, 
	"key" VARCHAR(512), 
	value_json TEXT, 
	PRIMARY KEY (trial_system_attribute_id), 
	UNIQUE (trial_id, "key"), 
	FOREIGN KEY(trial_id) REFERENCES trials (trial_id)
);
CREATE TABLE trial_params (
	param_id INTEGER NOT NULL, 
	trial_id INTEGER, 
	param_name VARCHAR(512), 
	param_value FLOAT, 
	distribution_json TEXT, 
	PRIMARY KEY (param_id), 
	UNIQUE (trial_id, param_name), 
	FOREIGN KEY(trial_id) REFERENCES trials (trial_id)
);
CREATE TABLE trial_values (
	trial_value_id INTEGER NOT NULL, 
	trial_id INTEGER NOT NULL, 
	objective INTEGER NOT NULL, 
	value FLOAT, 
	value_type VARCHAR(7) NOT NULL, 
	PRIMARY KEY (trial_value_id), 
	UNIQUE (trial_id, objective), 
	FOREIGN KEY(trial_id) REFERENCES trials (trial_id)
);
CREATE TABLE trial_intermediate_values (
	trial_intermediate_value_id INTEGER NOT NULL, 
	trial_id INTEGER NOT NULL, 
	step INTEGER NOT NULL, 
	intermediate_value FLOAT, 
	intermediate_value_type VARCHAR(7) NOT NULL, 
	PRIMARY KEY (trial_intermediate_value_id), 
	UNIQUE (trial_id, step), 
	FOREIGN KEY(trial_id) REFERENCES trials (trial_id)
);
CREATE TABLE trial_heartbeats (
	trial_heartbeat_id INTEGER NOT NULL, 
	trial_id INTEGER NOT NULL, 
	heartbeat DATETIME NOT NULL, 
	PRIMARY KEY (trial_heartbeat_id), 
	UNIQUE (trial_id), 
	FOREIGN KEY(trial_id) REFERENCES trials (trial_id)
);
CREATE TABLE alembic_version (
	version_num VARCHAR(32) NOT NULL, 
	CONSTRAINT alembic_version_pkc PRIMARY KEY (version_num)
);
INSERT INTO version_info VALUES (1, 12, '5.0.0');
INSERT INTO alembic_version VALUES ('v3.2.0.a');

-- Optuna counts rows for a trial's number; with this index no two programs can ever give one number twice.
CREATE UNIQUE INDEX autotune_trial_numbers ON trials (study_id, number);

-- Our tables. Durations are in nanoseconds, instants are RFC 3339 in UTC; what is a list or a map is JSON.

CREATE TABLE autotune_study (
	id INTEGER PRIMARY KEY CHECK (id = 1), -- one study a file
	study_id INTEGER NOT NULL REFERENCES studies (study_id),
	schema_version INTEGER NOT NULL,       -- of these tables: the number of the last migration
	uuid TEXT NOT NULL,
	source TEXT NOT NULL,                  -- the spec's file name, for messages
	spec TEXT NOT NULL,                    -- as its author wrote it
	spec_hash TEXT NOT NULL,               -- SHA-256, hexadecimal
	inputs TEXT,                           -- what the problem was made from besides the spec: machine, catalog version
	created TEXT NOT NULL,
	budget_trials INTEGER NOT NULL,
	budget_wall_clock INTEGER NOT NULL,
	budget_failure_row INTEGER NOT NULL,
	spent INTEGER NOT NULL,
	verdict TEXT
);

CREATE TABLE autotune_run (
	run_id INTEGER PRIMARY KEY,
	trial_id INTEGER NOT NULL REFERENCES trials (trial_id),
	purpose TEXT NOT NULL,                 -- search, repeat, confirm, verify
	host TEXT NOT NULL,
	gpus TEXT,
	log TEXT NOT NULL,                     -- path relative to the study file's folder
	phases TEXT,                           -- duration of each
	started TEXT,
	ended TEXT,
	resolved TEXT,                         -- the effective configuration as the engine reports it
	resolved_key TEXT NOT NULL,
	facts TEXT                             -- read from the log
);
CREATE INDEX autotune_run_trial ON autotune_run (trial_id);

CREATE TABLE autotune_measurement (
	measurement_id INTEGER PRIMARY KEY,
	run_id INTEGER NOT NULL REFERENCES autotune_run (run_id),
	workload TEXT NOT NULL,
	repeat INTEGER NOT NULL,
	identity TEXT NOT NULL,                -- what is asked: only equal ones are compared
	sent TEXT NOT NULL,                    -- hash of what was sent
	clock TEXT NOT NULL,                   -- wall or law
	share REAL NOT NULL,                   -- of the workload that was measured
	metrics TEXT,
	server_side TEXT                       -- growth of the server's own counters
);
CREATE INDEX autotune_measurement_run ON autotune_measurement (run_id);

CREATE TABLE autotune_trial (
	trial_id INTEGER PRIMARY KEY REFERENCES trials (trial_id),
	point TEXT NOT NULL,                   -- an object from parameter to value; default is null
	key TEXT NOT NULL,                     -- two spellings of one configuration have one
	origin TEXT NOT NULL,
	proposal TEXT,
	started TEXT,
	ended TEXT,
	interruptions INTEGER NOT NULL,        -- in a row
	stale INTEGER NOT NULL,
	outcome TEXT NOT NULL,                 -- empty while it runs
	phase TEXT NOT NULL DEFAULT '',
	reason TEXT NOT NULL DEFAULT '',
	signature TEXT NOT NULL DEFAULT '',
	rule TEXT NOT NULL DEFAULT '',
	evidence TEXT NOT NULL DEFAULT '',
	hint TEXT NOT NULL DEFAULT '',
	share REAL NOT NULL DEFAULT 0,
	warnings TEXT,
	cost INTEGER NOT NULL DEFAULT 0,
	argv TEXT,
	env TEXT,                              -- what autotune added, secrets redacted
	additions TEXT,
	engine_version TEXT NOT NULL DEFAULT '',
	run_id INTEGER REFERENCES autotune_run (run_id),                         -- the run that the outcome comes from
	measurement_id INTEGER REFERENCES autotune_measurement (measurement_id)  -- the measurement that counts
);

CREATE TABLE autotune_records (
	measurement_id INTEGER PRIMARY KEY REFERENCES autotune_measurement (measurement_id),
	codec TEXT NOT NULL,
	records BLOB NOT NULL
);

CREATE TABLE autotune_event (
	event_id INTEGER PRIMARY KEY,
	at TEXT NOT NULL,
	kind TEXT NOT NULL,
	trial INTEGER,                         -- its number; NULL when it concerns none
	text TEXT NOT NULL
);

CREATE TABLE autotune_lease (
	id INTEGER PRIMARY KEY CHECK (id = 1), -- one holder
	token TEXT NOT NULL,
	owner TEXT NOT NULL,
	pid INTEGER NOT NULL,
	started TEXT NOT NULL,                 -- of the process, in ticks since its machine's start
	boot TEXT NOT NULL,                    -- identity of its machine's start
	namespace TEXT NOT NULL,               -- in which the process's number counts
	host TEXT NOT NULL,
	acquired TEXT NOT NULL,
	renewed TEXT NOT NULL
);
