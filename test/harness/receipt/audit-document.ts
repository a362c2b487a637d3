import { canonicalJson, isJsonObject, type JsonObject } from '../../../schema/canonical-json.ts';
import { documents } from '../../../schema/documents.ts';
import { logOrigin } from '../../../schema/links.ts';
import { lookUpOf } from '../../../schema/transfer-look-up.ts';
import {
  appendLeaf,
  consistencyPath,
  type Frontier,
  inclusionPath,
  type NodeAddress,
} from '../../../subgraphs/receipt/log/merkle-tree.ts';
import { LOG_ID, treeHeadHash } from '../../../subgraphs/receipt/log/tree-head.ts';
import { prepareReceipt } from '../../../subgraphs/receipt/receipt/issue.ts';
import type { ReceiptFacts } from '../../../subgraphs/receipt/receipt/receipt-facts.ts';
import { leafHash } from '../../../subgraphs/receipt/verify/merkle-proof.ts';
import { parseJws } from '../../../subgraphs/receipt/verify/signature.ts';
import { waivedCall } from '../vectors/receipt-facts.ts';
import { base_url, collected_at_ms, issue, issuer } from './issue.ts';

const NEWEST = 5;
const ANCHORED = 4;
const hex = (hash: Uint8Array) => Buffer.from(hash).toString('hex');

/** The audit document of a receipt, without a database, as the service would make it once the log has three more leaves. */
export async function makeAuditDocument(facts: ReceiptFacts, book_seq: number | null = 1): Promise<JsonObject> {
  const receipt = await issue(facts, book_seq);
  const signature = isJsonObject(receipt.issuer_signature) ? receipt.issuer_signature : {};
  const claims = parseJws(signature.jws)?.claims ?? {};
  const preimage = canonicalJson(receipt.payload ?? null);
  const log = made([prepareReceipt(issuer, waivedCall).leaf_hash, leafHash(preimage)]);
  const root_hash = log.root(NEWEST);
  const head = { log_id: LOG_ID, tree_size: NEWEST, root_hash };
  const tree_head_hash = treeHeadHash(head);
  const origin = logOrigin(base_url);
  const note = issuer.signNote(origin, `${origin}\n${NEWEST}\n${Buffer.from(root_hash, 'hex').toString('base64')}\n`);
  const path = inclusionPath(1, NEWEST, log.read);
  const path_lines = path.map(hash => Buffer.from(hash).toString('base64'));
  const consistency = (from: number, to: number) => ({ from, to, proof: consistencyPath(from, to, log.read).map(hex) });
  const { hash: signed_history } = issuer.issuer_history;
  const policies = (issuer.policyHistory as { policies?: JsonObject[] }).policies ?? [];
  return {
    schema: documents.receipt_audit,
    as_of: new Date(collected_at_ms).toISOString(),
    receipt,
    preimage,
    keys: issuer.jwks,
    issuer_history: issuer.historySnapshot({ hash: signed_history }) ?? {},
    receipt_policy: policies.find(({ hash }) => hash === issuer.receipt_policy.hash) ?? {},
    log: {
      log_id: LOG_ID,
      head: {
        ...head,
        tree_head_hash,
        kid: issuer.kid,
        jws: issuer.signJws({ iss: base_url, iat: 1, ...head, tree_head_hash }),
        at: new Date(collected_at_ms).toISOString(),
      },
      inclusion: {
        leaf_index: 1,
        leaf_hash: hex(leafHash(preimage)),
        tree_size: NEWEST,
        root_hash,
        path: path.map(hex),
      },
      consistency: consistency(2, NEWEST),
      checkpoint: note,
      verifier_keys: [...issuer.verifierKeys(origin)],
      tlog_proof: ['c2sp.org/tlog-proof@v1', 'index 1', ...path_lines, '', note].join('\n'),
      anchor: {
        tree_size: ANCHORED,
        root_hash: log.root(ANCHORED),
        network: 'base',
        tx_hash: '0xcd',
        consistency: consistency(2, ANCHORED),
      },
    },
    transfer: lookUpOf(claims, null),
    lane: { proof_outcome: receipt.proof_outcome ?? null, settled_by: receipt.settled_by ?? null },
    proves: [],
    does_not_prove: [],
    checks: [],
  };
}

function made(first: readonly Buffer[]) {
  const nodes = new Map<string, Buffer>();
  const roots: Buffer[] = [];
  let frontier: Frontier = [];
  for (let size = 0; size < NEWEST; size++) {
    const appended = appendLeaf(frontier, size, first[size] ?? leafHash(`leaf ${size}`));
    for (const { level, index, hash } of appended.nodes) nodes.set(`${level}/${index}`, hash);
    roots.push(appended.root);
    frontier = appended.frontier;
  }
  return {
    read: ({ level, index }: NodeAddress) => nodes.get(`${level}/${index}`) ?? Buffer.alloc(0),
    root: (size: number) => hex(roots[size - 1] ?? Buffer.alloc(0)),
  };
}
