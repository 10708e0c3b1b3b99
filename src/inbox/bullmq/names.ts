/** The prefix of all Redis keys of the inbox. */
export const redisPrefix = "hub-webhooks";

/** The PostgreSQL schema that contains all tables of the inbox. */
export const postgresSchema = "hub_webhooks";
