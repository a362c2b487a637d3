import { bytesInBase58 } from '../../../schema/base58.ts';
import { canonicalHash, canonicalJson } from '../../../schema/canonical-json.ts';
import { sha256, sha256Hex } from '../../../schema/digest.ts';

/*
 * A sparse Merkle map over keys of 256 bits. Every possible key has its own place, so a key has only one value under a root, and a proof
 * can also show that a key has no value. A subtree without keys is 32 bytes of zero, and a subtree with a single key is the leaf of that
 * key (as in Diem's Jellyfish tree). A proof is therefore only as long as the bits that a key shares with its nearest key, and not 256
 * hashes.
 */

/** Hash of an empty subtree. No known text hashes to 32 zero bytes. */
export const EMPTY_MAP: Buffer = Buffer.from(new Uint8Array(32));

const KEY_BITS = 256;
const LEAF = Buffer.of(0);
const NODE = Buffer.of(1);

/** Hash of a leaf. The key is part of it, so that a leaf that is alone in a subtree shows which key it belongs to. */
export function mapLeaf(key: Buffer, value: Buffer): Buffer {
  return sha256(Buffer.concat([LEAF, key, value]));
}

/** Hash of two halves with at least two keys together: a subtree with a single key has no node. */
export function mapNode(left: Buffer, right: Buffer): Buffer {
  return sha256(Buffer.concat([NODE, left, right]));
}

/** The bit of a key that selects the half at this depth. The root has depth 0. */
export function bitAt(key: Buffer, depth: number): 0 | 1 {
  const byte = key[depth >> 3] ?? 0;
  return ((byte >> (7 - (depth & 7))) & 1) as 0 | 1;
}

/** Proof of the value of a key, or that it has none. Siblings are hashes in hex, from the root down; null means an empty subtree. */
export interface MapProof {
  readonly siblings: readonly (string | null)[];
  /** The other key that is alone in the subtree of a key without a value. Absent if that subtree is empty. */
  readonly instead?: { readonly key: string; readonly value: string };
}

/** Whether the proof shows that the key has this value under this root, or none if it is null. Key, value and root are 32 bytes in hex. */
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
  // A leaf or an empty subtree beside an empty one belongs further up, so that each proof has only one form.
  if (siblings.at(-1) === null) return false;
  return foldUp(path, found, siblings).equals(bytes(root));
}

/** Hash of the subtree of a key without a value: empty, or the leaf of the only key on its path. Null if `instead` is not on it. */
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

/** Tests, for each network, whether a payment is named in its only accepted form. A second form would give it a second key. */
const forms: Readonly<Record<string, (transaction: string, transfer_index: number) => boolean>> = {
  base: transaction => /^0x[0-9a-f]{64}$/.test(transaction),
  // A payment with x402's `exact` scheme on Solana has one transfer, which is its third instruction.
  solana: (transaction, transfer_index) => transfer_index === 2 && bytesInBase58(transaction) === 64,
};

/** Whether payments are made on the network of a transfer, and the transfer is named in its only accepted form. */
export function isTransferName({ network, payment_ref, transfer_index }: TransferName): boolean {
  const form = Object.hasOwn(forms, network) ? forms[network] : undefined;
  const begin = `${network}:`;
  return form !== undefined && payment_ref.startsWith(begin) && form(payment_ref.slice(begin.length), transfer_index);
}

/** Key of a payment in the map: one key for one transfer, hex. */
export function paymentKey({ network, payment_ref, transfer_index }: TransferName): string {
  return sha256Hex(canonicalJson([network, payment_ref, transfer_index]));
}

/** Value of a payment in the map: the receipt that it backs, by its leaf index and its payload hash, which no tile of the log shows. */
export function paymentValue({ leaf_index, payload_hash }: { leaf_index: number; payload_hash: string }): string {
  return canonicalHash({ leaf_index, payload_hash });
}

/** Key of a book's total on one rail in the map of all books, hex. */
export function totalKey(agent_id: number, rail: string): string {
  return sha256Hex(canonicalJson(['book', agent_id, rail]));
}

/** The total of a book on one rail. `root` is the root hash of its sum tree, hex. */
export interface RailSum {
  readonly rail: string;
  readonly rows: number;
  readonly total: string;
  readonly root: string;
}

export function totalValue(agent_id: number, { rail, rows, total, root }: RailSum): string {
  return canonicalHash({ agent_id, rail, rows, total, root });
}
