import { beforeAll, describe, expect, it } from 'vitest';
import { openStore } from '../../../../gateway/parts.ts';
import { transferSlot } from '../../../../schema/observed-transfer.ts';
import type { SentTransfer } from '../../../../schema/reconciliation-rule.ts';
import { knownUses } from '../../../../subgraphs/book/reconciliation/known-uses.ts';
import { ownAmong } from '../../../../subgraphs/book/reconciliation/page.ts';
import type { Database } from '../../../../subgraphs/database.ts';
import { freshDatabase } from '../../../harness/database.ts';
import { collectAll, collectedFactsOf, collection, withBooks } from '../../../harness/ledger/fixture.ts';
import { atEnd } from '../../../harness/release.ts';

/* Uses of a transfer that the tables show, regardless of which code wrote them. */

const [OWN, OTHER] = [1, 2];
let database: Database;
beforeAll(async () => {
  database = await openStore((await freshDatabase()).url);
  atEnd(() => database.close());
  await withBooks(database, OWN, OTHER);
});

/** The transfer of the payment with that number. */
const transfer = (number: number, amount = 2000n): SentTransfer => ({
  tx_hash: `0x${number.toString(16).padStart(64, '0')}`,
  log_index: number,
  block_number: 1,
  to: '0xpayee',
  amount,
});

/** The row of a payment to another service that an ingest leaves. Its receipt names the payment too. */
async function ingest(agent: number, number: number, payer_proven: boolean): Promise<string> {
  const { prepared, landing } = collection(agent, number);
  if (landing === null) throw new Error('it lands on a book');
  const { task_id } = landing.birth;
  const counted = payer_proven ? {} : { collected: false, amount: null, transfer_index: null };
  const told = { evidence: 'foreign_ingest', facts: { payer_proven }, ...counted } as const;
  const born = { ...collectedFactsOf(task_id, number), ...told };
  await database.transaction(tx => collectAll(tx, [{ prepared, landing: { ...landing, birth: born } }]));
  return task_id;
}

const known = (number: number, signed = false) => knownUses(database, { agent_id: OWN, signed }, [transfer(number)]);

describe('what rests on a transfer', () => {
  it('is a row of the own book: what was bought here, or a payment to somebody else whose payer is proven', async () => {
    await database.transaction(tx => collectAll(tx, [collection(OWN, 1)]));
    expect(await known(1)).toMatchObject([{ kind: 'receipt', book: 'own', task_id: 'task_1_1', transfer_index: 1 }]);
    const task_id = await ingest(OWN, 2, true);
    expect(await known(2)).toMatchObject([{ kind: 'ingest', book: 'own', task_id }]);
    await ingest(OWN, 3, false);
    expect(await known(3)).toEqual([]);
  });

  it('is a reference that is taken, of which nothing is told but that', async () => {
    const { tx_hash: transaction, log_index: index } = transfer(4);
    await database.query({
      text: 'insert into claim_slot (slot, claim_key) values ($1, $2)',
      values: [transferSlot({ network: 'base', transaction, index }), 'any'],
    });
    expect(await known(4)).toMatchObject([{ kind: 'ingest', book: 'another', task_id: null }]);
    expect(await known(4, true)).toMatchObject([{ task_id: null }]);
  });

  it('is nothing where none of these says so, and nothing is asked where nothing was sent', async () => {
    await ingest(OTHER, 5, false);
    expect(await known(5)).toEqual([]);
    expect(await known(99)).toEqual([]);
    expect(await knownUses(database, { agent_id: OWN, signed: true }, [])).toEqual([]);
  });
});

describe('whose a payee is', () => {
  it('is the payer’s own where it is known, or pays for calls of the same agent; what was only told of says nothing', async () => {
    const paying = collectedFactsOf('any', 1).payer_wallet?.toLowerCase() ?? '';
    const ownWallets = (agent_id: number) => ownAmong(database, ['0xpayee', paying], { agent_id, wallets: ['0xself'] });
    expect(await ownWallets(OWN)).toEqual(new Set(['0xself', paying]));
    expect(await ownWallets(OTHER)).toEqual(new Set(['0xself']));
  });
});
