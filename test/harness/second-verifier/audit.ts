import {
  base64,
  equal,
  hash,
  hex,
  isMembers,
  jcs,
  joined,
  type Members,
  sha,
  shaText,
  utf8,
  type Value,
} from './bytes.ts';
import { type ClaimedHead, isExtended, isIncluded, leafOf } from './merkle.ts';
import { judgeReceipt, type ReceiptVerdict } from './receipt.ts';
import { ed25519Keys, isNoteSigned, isTokenSigned, keccakHex, tokenIn } from './signatures.ts';

/* Checks audit documents of receipts for the second verifier. */

export function judgeAudit(audit: Members, keys: Members): ReceiptVerdict {
  const nothing: ReceiptVerdict = { valid: false, broken: [], claims: {} };
  if (!isMembers(audit.receipt)) return nothing;
  const judged = judgeReceipt(audit.receipt, keys);
  try {
    return judged.valid && evidenceHolds(audit, audit.receipt, judged.claims, keys) ? judged : nothing;
  } catch {
    return nothing;
  }
}

function evidenceHolds(audit: Members, receipt: Members, claims: Members, keys: Members): boolean {
  const { preimage, issuer_history: history, receipt_policy: policy, lane, log, transfer = null } = audit;
  const text = preimage === jcs(receipt.payload ?? null);
  const hashed = claims.payload_hash === undefined || shaText(String(preimage)) === claims.payload_hash;
  const lanes = Object.entries(isMembers(lane) ? lane : {}).every(([name, said]) =>
    equal(said ?? null, receipt[name] ?? null),
  );
  return (
    text &&
    hashed &&
    lanes &&
    isHistory(history, claims) &&
    (!isMembers(claims.receipt_policy) || hashOf(policy, 'policy') === claims.receipt_policy.hash) &&
    equal(transfer, transferOf(claims, receipt.ingress_receipt)) &&
    (log === undefined || (isMembers(log) && logHolds(log, receipt, claims, String(preimage), keys)))
  );
}

const hashOf = (shown: Value | undefined, name: string) =>
  isMembers(shown) ? shaText(jcs(shown[name] ?? null)) : null;

function isHistory(shown: Value | undefined, { issuer_history: signed, iat }: Members): boolean {
  if (!isMembers(signed)) return true;
  if (!isMembers(shown) || hashOf(shown, 'snapshot') !== signed.hash) return false;
  const active = Math.floor(Date.parse(String(shown.activated_at)) / 1000);
  return !(typeof iat === 'number' && active > iat);
}

const EXPECT =
  'status 0x1; a log of `contract` with these topics, this logIndex where it is known, and `amount` as its data.';

/** The transfer to look up on Base. Null on other networks, which the second verifier does not look up. */
function transferOf({ payment }: Members, ingress: Value | undefined): Value {
  if (!isMembers(payment) || (payment.network !== 'base' && payment.network !== 'eip155:8453')) return null;
  const ref = isMembers(ingress) && typeof ingress.ref === 'string' ? ingress.ref : String(payment.ref);
  const tx = ref.slice(ref.indexOf(':') + 1);
  const padded = (address: unknown) => `0x${String(address).slice(2).toLowerCase().padStart(64, '0')}`;
  const event = 'Transfer(address,address,uint256)';
  return {
    network: 'base',
    chain: 'eip155:8453',
    tx_hash: tx,
    contract: payment.asset ?? null,
    payer: payment.payer ?? null,
    payee: payment.pay_to ?? null,
    amount: payment.gross_amount ?? null,
    rpc_method: 'eth_getTransactionReceipt',
    rpc_params: [tx],
    event,
    topics: [`0x${keccakHex(event)}`, padded(payment.payer), padded(payment.pay_to)],
    log_index: payment.transfer_index ?? null,
    expect: EXPECT,
  };
}

function logHolds(log: Members, receipt: Members, claims: Members, preimage: string, keys: Members): boolean {
  const { head, inclusion, consistency, checkpoint, tlog_proof, anchor = null } = log;
  if (!isMembers(head) || !isMembers(inclusion)) return false;
  const [path, newest] = [hashesIn(inclusion.path), headIn(head)];
  if (!path || !newest || !isHead(head, claims, keys)) return false;
  const leaf = leafOf(utf8(preimage));
  const [{ leaf_index: index }, { leaf_index, leaf_hash, tree_size, root_hash }] = [claims, inclusion];
  const named =
    leaf_index === index && leaf_hash === hex(leaf) && tree_size === head.tree_size && root_hash === head.root_hash;
  // Only a string is accepted, because String() would turn a list with one text into that text.
  const note = typeof checkpoint === 'string' ? checkpoint : '';
  const lines = path.map(each => Buffer.from(each).toString('base64'));
  return (
    named &&
    isIncluded(leaf, Number(index), newest.size, newest.root, path) &&
    isConsistent(consistency, receipt, head) &&
    isCheckpoint(note, `${String(claims.iss).replace(/^https?:\/\//, '')}/log`, newest, keys) &&
    tlog_proof === ['c2sp.org/tlog-proof@v1', `index ${Number(index)}`, ...lines, '', note].join('\n') &&
    (anchor === null || (isMembers(anchor) && isConsistent(anchor.consistency, receipt, anchor)))
  );
}

function isHead(head: Members, { iss }: Members, keys: Members): boolean {
  const token = tokenIn(head.jws);
  const { log_id = null, tree_size = null, root_hash = null, tree_head_hash } = head;
  const { claims } = token ?? { claims: {} as Members };
  return (
    token !== null &&
    isTokenSigned(keys, token) &&
    claims.iss === iss &&
    claims.tree_size === tree_size &&
    claims.root_hash === root_hash &&
    claims.tree_head_hash === tree_head_hash &&
    shaText(jcs({ log_id, tree_size, root_hash })) === tree_head_hash
  );
}

function headIn({ tree_size, root_hash }: Members): ClaimedHead | null {
  const root = hash(root_hash);
  return root && typeof tree_size === 'number' && tree_size > 0 ? { size: tree_size, root } : null;
}

function hashesIn(list: Value | undefined): Uint8Array[] | null {
  if (!Array.isArray(list)) return null;
  const read = list.map(hash);
  return read.every(each => each !== null) ? read : null;
}

function isConsistent(shown: Value | undefined, one: Members, other: Members): boolean {
  if (!isMembers(shown)) return false;
  const [first, second, proof] = [headIn(one), headIn(other), hashesIn(shown.proof)];
  if (!first || !second || !proof) return false;
  const [smaller, larger] = first.size < second.size ? [first, second] : [second, first];
  return shown.from === smaller.size && shown.to === larger.size && isExtended(smaller, larger, proof);
}

/**
 * Checks a checkpoint (https://c2sp.org/signed-note and tlog-checkpoint): it must have a signature of one of the issuer's keys, and no
 * invalid one.
 */
function isCheckpoint(note: string, origin: string, { size, root }: ClaimedHead, keys: Members): boolean {
  const end = note.lastIndexOf('\n\n');
  const [text, lines] = [note.slice(0, end + 1), note.slice(end + 2)];
  if (end < 0 || !note.isWellFormed() || !lines.endsWith('\n')) return false;
  const known = ed25519Keys(keys).map(key => ({
    key,
    id: hex(sha(joined(utf8(`${origin}\n`), Uint8Array.of(1), key)).subarray(0, 4)),
  }));
  let signed = false;
  for (const line of lines.slice(0, -1).split('\n')) {
    const [, name, value] = /^\u2014 ([^\s+]+) (\S+)$/u.exec(line) ?? [];
    const bytes = base64(value);
    if (name === undefined || bytes === null || bytes.length <= 4) return false;
    const by = name === origin ? known.find(({ id }) => id === hex(bytes.subarray(0, 4))) : undefined;
    if (!by) continue;
    if (!isNoteSigned(by.key, text, bytes.subarray(4))) return false;
    signed = true;
  }
  const [said, count, hashed, ...more] = text.slice(0, -1).split('\n');
  const is = said === origin && count === String(size) && hex(base64(hashed) ?? new Uint8Array()) === hex(root);
  return signed && is && !more.includes('');
}
