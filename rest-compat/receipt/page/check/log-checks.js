import { bytesOf, hashOf, hashOfJson, hexOf, isSameJson } from './bytes.js';
import { isExtended, isIncluded, leafHashOf } from './merkle.js';
import { isIssued, openJws, openNote } from './signatures.js';

/* What the evidence shows of the log. Where there is none, each of these is open. */

/** @param {(opened: any) => unknown} run */
const whereLogged = run => (/** @type {any} */ opened) => (opened.audit.log === undefined ? null : run(opened));

/** @param {any} head */
const headIn = ({ tree_size: size, root_hash }) => ({ size, root: hashOf(root_hash) });

/** @param {any} proven @param {any} one @param {any} other */
function isLogOf(proven, one, other) {
  const [smaller, larger] = [headIn(one), headIn(other)].sort((a, b) => a.size - b.size);
  if (!smaller || !larger || proven.from !== smaller.size || proven.to !== larger.size) return false;
  return isExtended(smaller, larger, proven.proof.map(hashOf));
}

/** @type {readonly import('./run.js').Check[]} */
export const logChecks = [
  {
    name: 'Place in the log',
    says: 'The payload is a leaf of the issuer’s public log, under its newest signed head.',
    run: whereLogged(async ({ audit, claims }) => {
      const { head, inclusion } = audit.log;
      const jws = openJws(head.jws);
      const { log_id, tree_size, root_hash } = head;
      const { tree_size: size, root_hash: root, tree_head_hash: hash } = jws?.claims ?? {};
      const shown = [tree_size, root_hash, head.tree_head_hash, head.tree_head_hash];
      const said = [size, root, hash, await hashOfJson({ log_id, tree_size, root_hash })];
      if (!(await isIssued(audit.keys, jws)) || jws.claims.iss !== claims.iss || !isSameJson(said, shown)) return false;
      const leaf = await leafHashOf(bytesOf(audit.preimage));
      const named = [inclusion.leaf_hash, inclusion.leaf_index, inclusion.tree_size, inclusion.root_hash];
      const found = [hexOf(leaf), claims.leaf_index, tree_size, root_hash];
      const claim = { leaf, index: claims.leaf_index, size: tree_size, root: hashOf(root_hash) };
      return isSameJson(named, found) && isIncluded(claim, inclusion.path.map(hashOf));
    }),
  },
  {
    name: 'Nothing rewritten since',
    says: 'The log has only grown since the head that this receipt signs.',
    run: whereLogged(({ audit }) => isLogOf(audit.log.consistency, audit.receipt, audit.log.head)),
  },
  {
    name: 'Checkpoint',
    says: 'The log’s checkpoint (C2SP) is signed and says the same.',
    run: whereLogged(async ({ audit, claims }) => {
      const { head, checkpoint } = audit.log;
      const origin = `${String(claims.iss).replace(/^https?:\/\//, '')}/log`;
      const said = await openNote(audit.keys, checkpoint, origin);
      return said && said.size === String(head.tree_size) && hexOf(said.root) === head.root_hash;
    }),
  },
  {
    name: 'Anchored head',
    says: 'The head that is said to stand on Base is a head of this same log.',
    run: ({ audit }) => {
      const anchor = audit.log?.anchor ?? null;
      return anchor && isLogOf(anchor.consistency, audit.receipt, anchor);
    },
  },
];
