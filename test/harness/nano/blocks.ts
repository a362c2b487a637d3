import { randomBytes } from 'node:crypto';
import { twistedEdwards } from '@noble/curves/abstract/edwards';
import { ed25519 } from '@noble/curves/ed25519';
import { blake2b } from '@noble/hashes/blake2';
import { hashOfBlock, nanoAddressOf, type StateBlock, workOf } from '../../../gateway/rails/nano/state-block.ts';

/** Minimum work of the tests' blocks, which takes some thousand hashes instead of a billion. */
export const TEST_WORK_MIN = 0xffe0000000000000n;

const curve = twistedEdwards({ ...ed25519.CURVE, hash: blake2b });

export interface NanoWallet {
  readonly address: string;
  readonly key: Buffer;
  /** Public key in hex, as in the link of a send to this wallet. */
  readonly link: string;
  sign(digest: Uint8Array): string;
  /** Signs a text as nanocurrency-web does. */
  signText(text: string): string;
}

export function newNanoWallet(seed: Uint8Array = randomBytes(32)): NanoWallet {
  const key = Buffer.from(curve.getPublicKey(seed));
  const sign = (digest: Uint8Array) => Buffer.from(curve.sign(digest, seed)).toString('hex').toUpperCase();
  return {
    address: nanoAddressOf(key),
    key,
    link: key.toString('hex').toUpperCase(),
    sign,
    signText: text => sign(blake2b(Buffer.from(text), { dkLen: 32 })),
  };
}

export interface SignedBlock extends StateBlock {
  readonly hash: string;
}

type UnsignedBlock = Omit<StateBlock, 'signature' | 'work'>;

/** A block with valid work and the wallet's signature. Its content is not checked. */
export function makeBlock(wallet: NanoWallet, block: UnsignedBlock, work_min = TEST_WORK_MIN): SignedBlock {
  const bare = { ...block, signature: '', work: workFor(block.previous, work_min) };
  const hash = hashOfBlock(bare);
  if (hash === null) throw new Error('an address of the block under test is none');
  return { ...bare, hash, signature: wallet.sign(Buffer.from(hash, 'hex')) };
}

function workFor(previous: string, work_min: bigint): string {
  const start = randomBytes(8).readBigUInt64BE();
  for (let step = 0n; ; step++) {
    const work = BigInt.asUintN(64, start + step)
      .toString(16)
      .padStart(16, '0');
    if (workOf({ work, previous }) >= work_min) return work;
  }
}

/** The two blocks of an account that received an amount and sent a part of it. */
export function makeSend(
  payer: NanoWallet,
  payee: NanoWallet,
  { had = 5n * 10n ** 30n, amount = 2n * 10n ** 30n } = {},
): { readonly before: SignedBlock; readonly send: SignedBlock } {
  const representative = payer.address;
  const source = randomBytes(32).toString('hex').toUpperCase();
  const account = payer.address;
  const first = { account, previous: '0'.repeat(64), representative, balance: had, link: source };
  const before = makeBlock(payer, first);
  const next = { ...first, previous: before.hash, balance: had - amount, link: payee.link };
  return { before, send: makeBlock(payer, next) };
}
