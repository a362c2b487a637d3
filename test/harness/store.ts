import { openStore } from '../../gateway/parts.ts';
import type { Database } from '../../subgraphs/database.ts';
import { freshDatabase } from './database.ts';
import { atEnd } from './release.ts';

/** An open connection to a new migrated database. It is closed, and the database dropped, after the file's last test. */
export async function freshStore(
  ...options: Parameters<typeof freshDatabase>
): Promise<Database & { readonly url: string }> {
  const { url } = await freshDatabase(...options);
  const store = await openStore(url);
  atEnd(() => store.close());
  return { ...store, url };
}
