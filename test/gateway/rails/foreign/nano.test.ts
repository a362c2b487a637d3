import { randomBytes } from 'node:crypto';
import { inspect } from 'node:util';
import { generateKeyPair, getAddressFromPublicKey, getBase58Decoder, signBytes } from '@solana/kit';
import { beforeAll, beforeEach, describe, expect, it } from 'vitest';
import {
  type OpenedForeignTransfers,
  openForeignTransfers,
} from '../../../../gateway/rails/foreign/open-foreign-transfers.ts';
import { atomicAmount } from '../../../../schema/amount.ts';
import type { NamedTransfer } from '../../../../subgraphs/foreign-transfers.ts';
import { foreignPartsOf } from '../../../harness/foreign.ts';
import { makeBlock, makeSend, newNanoWallet, type SignedBlock, TEST_WORK_MIN } from '../../../harness/nano/blocks.ts';
import { type BlockInfo, startNanoNode } from '../../../harness/nano/node.ts';

const XNO = 10n ** 30n;
const payer = newNanoWallet();
const payee = newNanoWallet();
const { before, send } = makeSend(payer, payee, { had: 5n * XNO, amount: 2n * XNO });

let node: Awaited<ReturnType<typeof startNanoNode>>;
let transfers: OpenedForeignTransfers;
beforeAll(async () => {
  node = await startNanoNode();
  node.keep({ block: before, subtype: 'receive' }, { block: send, subtype: 'send' });
  transfers = await openForeignTransfers(foreignPartsOf({ nano_rpc_url: node.url, nano_work_min: TEST_WORK_MIN }));
});
beforeEach(() => node.tellTruth());

const named = (changed: Partial<NamedTransfer> = {}): NamedTransfer => ({
  network: 'nano',
  transaction: send.hash,
  index: null,
  payer: payer.address,
  pay_to: payee.address,
  amount_atomic: atomicAmount(2n * XNO),
  ...changed,
});

const outcome = async (changed: Partial<NamedTransfer> = {}) => {
  const seen = await transfers.observe(named(changed));
  return seen.kind === 'not_believed' ? seen.reason : seen.kind;
};

describe('a cemented send on Nano', () => {
  it('is observed, by its own bytes and those of the block before', async () => {
    const seen = await transfers.observe(named({ payer: null, transaction: send.hash.toLowerCase() }));
    const what = { network: 'nano', rail: 'xno', asset: 'XNO', transaction: send.hash, index: null };
    expect(seen).toEqual({
      kind: 'observed',
      transfer: { ...what, payer: payer.address, pay_to: payee.address, amount: (2n * XNO).toString() },
      seen_in: { block_number: null, block_hash: null, final: true },
    });
    if (seen.kind !== 'observed') throw new Error('it was just observed');
    expect(await transfers.standing(seen.transfer, seen.seen_in)).toEqual({ kind: 'final' });
  });

  it('is known by addresses of old, too', async () => {
    const old = (address: string) => address.replace('nano_', 'xrb_');
    expect(await outcome({ payer: old(payer.address), pay_to: old(payee.address) })).toBe('observed');
  });

  it.each<[string, Partial<NamedTransfer>]>([
    ['another amount', { amount_atomic: atomicAmount(2n * XNO - 1n) }],
    ['another payer', { payer: newNanoWallet().address }],
    ['another payee', { pay_to: newNanoWallet().address }],
    ['a payee that is no address', { pay_to: 'nobody' }],
    ['a place in a block of one', { index: 0 }],
  ])('is none of %s', async (_, changed) => {
    expect(await outcome(changed)).toBe('no_such_transfer');
  });

  it('is held to the work that the network wants', async () => {
    const strict = await openForeignTransfers(foreignPartsOf({ nano_rpc_url: node.url }));
    expect(await strict.observe(named())).toEqual({ kind: 'not_believed', reason: 'forged_block' });
  });

  it('without a node is none of anybody’s', async () => {
    const without = await openForeignTransfers(foreignPartsOf({ nano_rpc_url: null }));
    expect(await without.observe(named())).toEqual({ kind: 'unsupported' });
  });
});

describe('what is no send of money', () => {
  const keep = (block: SignedBlock, subtype: 'send' | 'receive' | 'change') => {
    node.keep({ block, subtype });
    return { transaction: block.hash };
  };
  const following = (change: Partial<SignedBlock>) => {
    const { hash: _, signature: __, work: ___, ...same } = send;
    return makeBlock(payer, { ...same, previous: send.hash, ...change });
  };

  it('is a block that the node does not know', async () => {
    expect(await outcome({ transaction: randomBytes(32).toString('hex') })).toBe('not_found');
  });

  it('is a receive, a change, an open block, and one that is not cemented', async () => {
    const receive = keep(
      following({ balance: 9n * XNO, link: randomBytes(32).toString('hex').toUpperCase() }),
      'receive',
    );
    expect(await outcome({ ...receive, amount_atomic: atomicAmount(6n * XNO) })).toBe('no_such_transfer');
    const change = keep(following({ link: '0'.repeat(64) }), 'change');
    expect(await outcome({ ...change, amount_atomic: atomicAmount(0n) })).toBe('no_such_transfer');
    expect(await outcome({ transaction: before.hash })).toBe('no_such_transfer');
    const next = following({ balance: 2n * XNO });
    node.keep({ block: next, subtype: 'send', confirmed: false });
    expect(await outcome({ transaction: next.hash, amount_atomic: atomicAmount(XNO) })).toBe('not_confirmed');
  });

  it('is a send of another account’s chain, or with less work', async () => {
    const thief = newNanoWallet();
    const { hash: _, signature: __, work: ___, ...same } = send;
    const stolen = makeBlock(thief, { ...same, account: thief.address });
    node.keep({ block: stolen, subtype: 'send' });
    expect(await outcome({ transaction: stolen.hash, payer: thief.address })).toBe('forged_block');
    node.lie(told => changed(told, { work: '0000000000000000' }));
    expect(await outcome()).toBe('forged_block');
  });
});

const changed = (told: BlockInfo, change: Record<string, string>): BlockInfo => ({
  ...told,
  contents: { ...told.contents, ...change },
});
const of = (hash: string, change: Record<string, string>) => (told: BlockInfo, asked: string) =>
  asked === hash ? changed(told, change) : told;

describe('a node of Nano that lies', () => {
  it.each<[string, string, (told: BlockInfo, hash: string) => unknown]>([
    ['of the balance that was left', 'forged_block', of(send.hash, { balance: '1' })],
    ['of the payee', 'forged_block', of(send.hash, { link: newNanoWallet().link })],
    ['of the payer', 'forged_block', of(send.hash, { account: newNanoWallet().address })],
    ['of the signature', 'forged_block', of(send.hash, { signature: payer.sign(randomBytes(32)) })],
    ['of what there was before', 'forged_block', of(before.hash, { balance: (7n * XNO).toString() })],
    ['of whose there was before', 'forged_block', of(before.hash, { account: payee.address })],
    ['by another block', 'forged_block', told => ({ ...(told as object), contents: contentsOf(before) })],
    ['of its being cemented', 'not_confirmed', told => ({ ...told, confirmed: 'false' })],
    ['of its kind', 'unknown', told => ({ ...told, subtype: 'receive' })],
    ['by a word that is none', 'unknown', told => ({ ...told, confirmed: true })],
    ['by half a block', 'unknown', told => ({ ...told, contents: { type: 'state' } })],
    [
      'by a block of before there were state blocks',
      'no_such_transfer',
      told => ({ ...told, contents: { type: 'send' } }),
    ],
  ])('%s is not believed: %s', async (_, expected, lie) => {
    node.lie(lie);
    expect(await outcome()).toBe(expected);
  });

  it('of the amount is not even heard', async () => {
    node.lie(told => ({ ...told, amount: '1', balance: '1', height: '1' }));
    expect(await outcome()).toBe('observed');
    expect(await outcome({ amount_atomic: atomicAmount(1n) })).toBe('no_such_transfer');
  });

  it('has the block before no more', async () => {
    node.lie((told, hash) => (hash === before.hash ? { error: 'Block not found' } : told));
    expect(await outcome()).toBe('unknown');
  });

  it.each(['error', 'garbage', 'huge', 'cut', 'limited'] as const)(
    'answers by %s, which is no answer',
    async manner => {
      node.behave(manner);
      const seen = await transfers.observe(named());
      expect(seen.kind).toBe('unknown');
      // The URL of a hosted node holds a key.
      expect(inspect(seen, { depth: 8 })).not.toContain('a-key-that-nobody');
    },
  );
});

describe('a text', () => {
  it('is signed by an account of Nano, or it is not', async () => {
    const text = `svc.ingest|7|nano:${send.hash}|1790000000`;
    const by = {
      network: 'nano',
      payer: payer.address,
      signature: payer.signText(text),
      asker: '203.0.113.7',
    } as const;
    expect(await transfers.verifySigner(text, by)).toBe('valid');
    expect(await transfers.verifySigner(text, { ...by, payer: payee.address })).toBe('invalid');
    expect(await transfers.verifySigner(text, { ...by, payer: 'nobody' })).toBe('invalid');
    expect(await transfers.verifySigner(`${text}0`, by)).toBe('invalid');
  });

  it('is signed by a key of Solana, or it is not', async () => {
    const text = 'svc.ingest|7|solana:5|1790000000';
    const keys = await generateKeyPair();
    const signature = getBase58Decoder().decode(await signBytes(keys.privateKey, new TextEncoder().encode(text)));
    const solana = await getAddressFromPublicKey(keys.publicKey);
    const by = { network: 'solana', payer: solana, signature, asker: '203.0.113.7' } as const;
    expect(await transfers.verifySigner(text, by)).toBe('valid');
    expect(await transfers.verifySigner(`${text}0`, by)).toBe('invalid');
    expect(await transfers.verifySigner(text, { ...by, payer: 'nobody' })).toBe('invalid');
  });
});

function contentsOf({ hash: _, balance, ...block }: SignedBlock): Record<string, string> {
  return { type: 'state', ...block, balance: balance.toString() };
}
