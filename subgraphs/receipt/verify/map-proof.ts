import { bytesInBase58 } from '../../../schema/base58.ts';
import { canonicalHash, canonicalJson } from '../../../schema/canonical-json.ts';
import { sha256, sha256Hex } from '../../../schema/digest.ts';

/*
 * A sparse Merkle map over keys of 256 bits: one place for each key that there could be, so that a key has one value under a root,
 * and that it has none can be proven, too. A subtree without a key is 32 bytes of zero, one with a single key is that key's
 * leaf (as in Diem's Jellyfish tree): a proof is as long as the keys around it are close, and not 256 hashes.
 */

/** An empty subtree. No known text hashes to 32 zero bytes. */
export const EMPTY_MAP: Buffer = Buffer.from(new Uint8Array(32));

const KEY_BITS = 256;
const LEAF = Buffer.of(0);
const NODE = Buffer.of(1);

/** The key is part of the leaf: a leaf that is alone in a subtree shows whose it is. */
export function mapLeaf(key: Buffer, value: Buffer): Buffer {
  return sha256(Buffer.concat([LEAF, key, value]));
}

/** Hash of two halves of which one has a subtree of two keys, or both have one: a single leaf needs no node. */
export function mapNode(left: Buffer, right: Buffer): Buffer {
  return sha256(Buffer.concat([NODE, left, right]));
}

/** The bit that decides at this depth, from the root down. */
export function bitAt(key: Buffer, depth: number): 0 | 1 {
  const byte = key[depth >> 3] ?? 0;
  return ((byte >> (7 - (depth & 7))) & 1) as 0 | 1;
}

/** From the root down; null means an empty subtree. */
export interface MapProof {
  readonly siblings: readonly (string | null)[];
  /** The other key that is alone in the key's place, if the key has no value. */
  readonly instead?: { readonly key: string; readonly value: string };
}

/** Whether the key has this value under this root, or none if it is null. Keys, values and root are hex of 32 bytes. */
export function verifyMapProof(
  root: string,
  { key, value }: { readonly key: string; readonly value: string | null },
  { siblings, instead }: MapProof,
): boolean {
  const texts = [root, key, value, instead?.key, instead?.value, ...siblings];
  if (texts.some(text => text != null && !/^[0-9a-f]{64}$/.test(text)) || siblings.length > KEY_BITS) return false;
  const path = bytes(key);
  const found = value === null ? otherIn(path, siblings.length, instead) : mapLeaf(path, bytes(value));
  if (found === null || (value !== null && instead)) return false;
  // A leaf, or nothing, beside nothing would be further up: a proof has one form.
  if (siblings.at(-1) === null) return false;
  return foldUp(path, found, siblings).equals(bytes(root));
}

/** What is in the place of a key without a value: nothing, or the one key that shares its path. */
function otherIn(path: Buffer, depth: number, instead: MapProof['instead']): Buffer | null {
  if (!instead) return EMPTY_MAP;
  const other = bytes(instead.key);
  if (other.equals(path)) return null;
  for (let bit = 0; bit < depth; bit++) if (bitAt(other, bit) !== bitAt(path, bit)) return null;
  return mapLeaf(other, bytes(instead.value));
}

function foldUp(path: Buffer, leaf: Buffer, siblings: readonly (string | null)[]): Buffer {
  let hash = leaf;
  for (let depth = siblings.length - 1; depth >= 0; depth--) {
    const shown = siblings[depth];
    const sibling = shown ? bytes(shown) : EMPTY_MAP;
    hash = bitAt(path, depth) === 1 ? mapNode(sibling, hash) : mapNode(hash, sibling);
  }
  return hash;
}

const bytes = (hex: string) => Buffer.from(hex, 'hex');

/** A transfer, by the facts that identify it on its chain. */
export interface TransferName {
  readonly network: string;
  /** `network:transaction`. */
  readonly payment_ref: string;
  readonly transfer_index: number;
}

/** How a payment is named on each network, in exactly one spelling, so that no second spelling has a key of its own. */
const forms: Readonly<Record<string, (transaction: string, transfer_index: number) => boolean>> = {
  base: transaction => /^0x[0-9a-f]{64}$/.test(transaction),
  // x402's `exact` on Solana has one transfer, its third instruction.
  solana: (transaction, transfer_index) => transfer_index === 2 && bytesInBase58(transaction) === 64,
};

/** Whether it is a transfer of a network that payments are made on, in the one spelling that it has. */
export function isTransferName({ network, payment_ref, transfer_index }: TransferName): boolean {
  const form = Object.hasOwn(forms, network) ? forms[network] : undefined;
  const begin = `${network}:`;
  return form !== undefined && payment_ref.startsWith(begin) && form(payment_ref.slice(begin.length), transfer_index);
}

/** Key of a payment in the map: one key for one transfer, hex. */
export function paymentKey({ network, payment_ref, transfer_index }: TransferName): string {
  return sha256Hex(canonicalJson([network, payment_ref, transfer_index]));
}

/** The value of a payment: the receipt that it backs, by its place in the log and the hash of its payload, which no tile shows. */
export function paymentValue({ leaf_index, payload_hash }: { leaf_index: number; payload_hash: string }): string {
  return canonicalHash({ leaf_index, payload_hash });
}

/** Key of a book's total on one rail in the map of all books, hex. */
export function totalKey(agent_id: number, rail: string): string {
  return sha256Hex(canonicalJson(['book', agent_id, rail]));
}

/** The total of a book on one rail. `root` is of its sum tree, hex. */
export interface RailSum {
  readonly rail: string;
  readonly rows: number;
  readonly total: string;
  readonly root: string;
}

export function totalValue(agent_id: number, { rail, rows, total, root }: RailSum): string {
  return canonicalHash({ agent_id, rail, rows, total, root });
}
