import { openStore } from '../../gateway/parts.ts';

/**
 * Migrates the template database once for each run. Every `freshDatabase` is a copy of it. The connections must be closed, because Postgres
 * does not copy a database that has any.
 */
export async function prepareTemplate(url: string): Promise<void> {
  const store = await openStore(url);
  await store.close();
}
