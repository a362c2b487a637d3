import { expect, it } from 'vitest';
import { everyFeature } from '../../../gateway/features/every-feature.ts';
import { openStore, tablesWith } from '../../../gateway/parts.ts';
import { selectList } from '../../../subgraphs/columns.ts';
import { JOBS_REVISION, JOBS_SCHEMA } from '../../../subgraphs/migrate-jobs.ts';
import { openOrm } from '../../../subgraphs/orm.ts';
import { freshDatabase } from '../../harness/database.ts';

const tables = tablesWith(everyFeature);

/**
 * Changes that no entity describes: triggers for histories, for signatures by ended keys, for numbers, repeated deliveries and refunds, and
 * parts that searches need.
 */
const beyondIt =
  /(issuer_snapshot|issuer_revocation|receipt_policy)_append_only|(tree_head|refusal)_key|session_revocation_number|payment_claim_resend|dispute_refund_named|board_((post|job)_(words|similar)|words)|search_words/;

it('entities and migrations describe the same tables', async () => {
  const { url } = await freshDatabase();
  const store = await openStore(url);
  await store.close();
  const orm = await openOrm({ url, ...tables });
  try {
    const difference = await orm.schema.getUpdateSchemaSQL({ safe: false });
    const wrong = difference.split('\n').filter(line => line && !line.startsWith('set ') && !beyondIt.test(line));
    expect(wrong).toEqual([]);
  } finally {
    await orm.close(true);
  }
});

it('the columns that are read of an entity are those that its table has', async () => {
  const { url } = await freshDatabase();
  const orm = await openOrm({ url, ...tables });
  try {
    const lists = tables.entities.map(entity => {
      const { props } = orm.getMetadata().get(entity as new () => object);
      const columns = props.filter(({ persist }) => persist !== false);
      return [entity.name, columns.map(({ fieldNames, name }) => `"${fieldNames[0]}" as "${name}"`).sort()];
    });
    expect(tables.entities.map(entity => [entity.name, selectList(entity).split(', ').sort()])).toEqual(lists);
  } finally {
    await orm.close(true);
  }
});

it('several processes may bring an empty database up to date at once', async () => {
  const { url } = await freshDatabase();
  const fresh = await openStore(url);
  await fresh.query({ text: `drop schema public, ${JOBS_SCHEMA} cascade` });
  await fresh.query({ text: 'create schema public' });
  await fresh.close();
  const stores = await Promise.all([openStore(url), openStore(url), openStore(url)]);
  const heads = await stores[0].query({ text: 'select tree_size from log_head' });
  const revisions = await stores[1].query({ text: `select id from ${JOBS_SCHEMA}.migrations order by id` });
  await Promise.all(stores.map(store => store.close()));
  expect(heads).toHaveLength(1);
  expect(revisions.at(-1)).toEqual({ id: JOBS_REVISION });
  expect(revisions).toHaveLength(JOBS_REVISION);
});
