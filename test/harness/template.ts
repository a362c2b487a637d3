import { openStore } from '../../gateway/parts.ts';

/**
 * Brings the template database up to date, once per run; every `freshDatabase` is a copy of it.
 * Must close its connections: Postgres copies no database that somebody is connected to.
 */
export async function prepareTemplate(url: string): Promise<void> {
  const store = await openStore(url);
  await store.close();
}
