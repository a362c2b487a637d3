import type { Database } from '../../database.ts';

/** Ids of the models that may answer calls of this book now. Null if the book does not restrict them or does not exist. */
export async function allowedModels(database: Database, agent_id: number | null): Promise<readonly string[] | null> {
  if (agent_id === null) return null;
  const [book] = await database.query<{ allowed: readonly string[] | null }>({
    name: 'allowed models',
    text: `select policy->'model_allowlist' as allowed from book where agent_id = $1`,
    values: [agent_id],
  });
  return book?.allowed ?? null;
}
