import { canonicalHash, isJsonObject, type Json, type JsonObject } from '../../../schema/canonical-json.ts';
import { issuedCheckpoint, tlogProofText } from './checkpoint-note.ts';
import { leafHash, verifyConsistency, verifyInclusion } from './merkle-proof.ts';
import { type Jwks, parseJws, verifyEs256 } from './signature.ts';
import { type Rule, unless } from './signed.ts';

/* What an audit document shows of the log. While the log is halted it shows nothing, and nothing is proven. */

/** An audit document whose receipt has been verified. */
export interface OpenedAudit {
  readonly document: JsonObject;
  readonly receipt: JsonObject;
  readonly claims: JsonObject;
  readonly jwks: Jwks;
}

const inLog = (
  code: string,
  says: string,
  fault: (log: JsonObject, opened: OpenedAudit) => boolean,
): Rule<OpenedAudit> => ({
  code,
  says,
  fault: opened => {
    const { log } = opened.document;
    if (log === undefined) return null;
    return unless(isJsonObject(log) && fault(log, opened), `It does not hold: ${says}`);
  },
});

/** In order: a later rule may rely on all before it. */
export const logRules: readonly Rule<OpenedAudit>[] = [
  // A service that has moved since signs heads of the same log under another iss: the key set says whose they are.
  inLog('head_invalid', 'The issuer signed the newest head of the log.', ({ head }, { jwks }) => {
    if (!isJsonObject(head)) return false;
    const jws = parseJws(head.jws);
    const { log_id = null, tree_size = null, root_hash = null } = head;
    return (
      jws !== null &&
      jws.header.alg === 'ES256' &&
      verifyEs256(jwks, jws.header.kid, jws.input, jws.signature) &&
      jws.claims.tree_size === tree_size &&
      jws.claims.root_hash === root_hash &&
      jws.claims.tree_head_hash === head.tree_head_hash &&
      canonicalHash({ log_id, tree_size, root_hash }) === head.tree_head_hash
    );
  }),
  inLog(
    'not_in_log',
    'The receipt is a leaf of the log under that head.',
    ({ head, inclusion }, { document, claims }) => {
      if (!isJsonObject(head) || !isJsonObject(inclusion)) return false;
      const { leaf_index, leaf_hash, tree_size, root_hash } = inclusion;
      const [path, root] = [hashes(inclusion.path), bytes(head.root_hash)];
      if (path === null || root === null || typeof head.tree_size !== 'number') return false;
      const leaf = leafHash(String(document.preimage));
      return (
        [leaf_index, leaf_hash, tree_size, root_hash].every(
          (said, at) => said === [claims.leaf_index, leaf.toString('hex'), head.tree_size, head.root_hash][at],
        ) && verifyInclusion({ leaf, leaf_index: Number(claims.leaf_index), size: head.tree_size, root }, path)
      );
    },
  ),
  inLog(
    'log_rewritten',
    'The log has only grown since the receipt.',
    ({ head, consistency }, { receipt }) => isJsonObject(head) && agrees(consistency, receipt, head),
  ),
  inLog('checkpoint_invalid', 'The checkpoint says the same, under a key of the issuer.', (log, { jwks }) => {
    const { head, inclusion, checkpoint, tlog_proof } = log;
    const said = issuedCheckpoint(checkpoint, jwks);
    if (said === null || !isJsonObject(head) || !isJsonObject(inclusion)) return false;
    const path = (inclusion.path ?? []) as readonly string[];
    return (
      said.size === head.tree_size &&
      said.root.toString('hex') === head.root_hash &&
      tlog_proof === tlogProofText(Number(inclusion.leaf_index), path, String(checkpoint))
    );
  }),
  inLog(
    'anchor_foreign',
    'What is said to be anchored is a head of the same log.',
    ({ anchor }, { receipt }) =>
      anchor === undefined || anchor === null || (isJsonObject(anchor) && agrees(anchor.consistency, receipt, anchor)),
  ),
];

/** Whether a proof leads from the smaller of two heads to the larger. */
function agrees(proven: Json | undefined, one: JsonObject, other: JsonObject): boolean {
  if (!isJsonObject(proven)) return false;
  const [first, second] = [headOf(one), headOf(other)];
  const proof = hashes(proven.proof);
  if (first === null || second === null || proof === null) return false;
  const [smaller, larger] = first.size < second.size ? [first, second] : [second, first];
  if (proven.from !== smaller.size || proven.to !== larger.size) return false;
  return verifyConsistency(
    { old_size: smaller.size, old_root: smaller.root, size: larger.size, root: larger.root },
    proof,
  );
}

function headOf({ tree_size, root_hash }: JsonObject): { readonly size: number; readonly root: Buffer } | null {
  const root = bytes(root_hash);
  return root !== null && typeof tree_size === 'number' && tree_size > 0 ? { size: tree_size, root } : null;
}

function bytes(hash: Json | undefined): Buffer | null {
  return typeof hash === 'string' && /^[0-9a-f]{64}$/.test(hash) ? Buffer.from(hash, 'hex') : null;
}

function hashes(path: Json | undefined): Buffer[] | null {
  if (!Array.isArray(path)) return null;
  const read = path.map(bytes);
  return read.every(hash => hash !== null) ? read : null;
}
