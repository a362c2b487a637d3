import { expect, it } from 'vitest';
import { openStore } from '../../../gateway/parts.ts';
import { freshDatabase } from '../../harness/database.ts';

/** The histories' triggers, whose part about TRUNCATE it does not read back. */
const beyondIt = /(issuer_snapshot|receipt_policy)_append_only/;

it('entities and migrations describe the same tables', async () => {
  const { url } = await freshDatabase();
  const store = await openStore(url);
  try {
    const difference = await store.orm.schema.getUpdateSchemaSQL({ safe: false });
    const wrong = difference.split('\n').filter(line => line && !line.startsWith('set ') && !beyondIt.test(line));
    expect(wrong).toEqual([]);
  } finally {
    await store.close();
  }
});

it('several processes may bring an empty database up to date at once', async () => {
  const { url } = await freshDatabase();
  const fresh = await openStore(url);
  await fresh.query({ text: 'drop schema public cascade' });
  await fresh.query({ text: 'create schema public' });
  await fresh.close();
  const stores = await Promise.all([openStore(url), openStore(url), openStore(url)]);
  const heads = await stores[0].query({ text: 'select tree_size from log_head' });
  await Promise.all(stores.map(store => store.close()));
  expect(heads).toHaveLength(1);
});
