import { join } from 'node:path';
import { createLocalJWKSet, type JSONWebKeySet, jwtVerify } from 'jose';
import { expect, it } from 'vitest';
import type { Database } from '../../../subgraphs/database.ts';
import { declareBreak, headToContinue, isNewLoss } from '../../../subgraphs/receipt/log/break.ts';
import { proveLogIntact } from '../../../subgraphs/receipt/log/prove-intact.ts';
import { savedHead } from '../../../subgraphs/receipt/log/saved-head.ts';
import { collectAll, collection, issuer } from '../../harness/ledger/fixture.ts';
import { makeScratch } from '../../harness/scratch.ts';
import { freshStore } from '../../harness/store.ts';

const grow = (database: Database, ...numbers: number[]) =>
  database.transaction(
    async tx =>
      (
        await collectAll(
          tx,
          numbers.map(number => collection(null, number)),
        )
      ).tree_head,
  );

it('a shrunken log is named, and goes on only after its break was declared, signed and published', async () => {
  const [signed, older] = [await freshStore(), await freshStore()];
  await grow(older, 1, 2);
  await grow(signed, 1, 2);
  const saved_head = savedHead(join(await makeScratch(), 'log-head.json'));
  await saved_head.save(await grow(signed, 3));

  const integrity = await proveLogIntact(older, await saved_head.read());
  expect(integrity).toMatchObject({ kind: 'shrunken', saved: { tree_size: 3 }, found: { tree_size: 2 } });
  if (integrity.kind !== 'shrunken') return;

  const head = await headToContinue(older, integrity.found);
  const { saved, found } = integrity;
  const declared = await declareBreak(
    older,
    issuer,
    {
      saved,
      found,
      damage: [],
      reason: 'an older dump',
      declared_at: '2026-01-02T03:04:05.678Z',
    },
    async () => {},
  );
  await saved_head.restart(head);
  expect(await proveLogIntact(older, await saved_head.read())).toMatchObject({ kind: 'intact' });
  expect(await proveLogIntact(older, await grow(older, 4))).toMatchObject({ kind: 'intact' });

  const keys = createLocalJWKSet(issuer.jwks as unknown as JSONWebKeySet);
  const { payload } = await jwtVerify(String(declared.jws), keys, { algorithms: ['ES256'] });
  expect(payload).toMatchObject({ schema: 'svc402.log_break.v1', reason: 'an older dump', saved: { tree_size: 3 } });
});

it('a log that contradicts itself cannot be continued, whatever is declared', async () => {
  const database = await freshStore();
  const head = await grow(database, 1, 2, 3);
  await database.query({ text: `update log_node set hash = sha256(hash) where level = 1 and index = 0` });
  expect(await proveLogIntact(database, head)).toMatchObject({ kind: 'rewritten' });
  await expect(headToContinue(database, head)).rejects.toThrow('contradicts itself');
});

const ENDED_AT = '2026-01-02T03:04:05.678Z';
it.each([
  ['new where credentials never ended', ['2026-01-02T03:04:05.677Z'], null, true],
  ['old where it was committed before they ended last', [ENDED_AT, '2026-01-02T03:04:05.677Z'], ENDED_AT, false],
  ['new where a part of it was committed since', [ENDED_AT, '2026-01-02T03:04:05.679Z'], ENDED_AT, true],
  ['new where nobody can say when it was committed', [null], ENDED_AT, true],
])('what was lost is %s', (_which, lost, ended_at, is_new) => {
  expect(isNewLoss(lost, ended_at === null ? null : Date.parse(ended_at))).toBe(is_new);
});
