import {
  bundledProof,
  bundledReceipt,
  bundledRefusal,
  bundleFiles,
  documentOfRow,
} from '../../../schema/audit/book-bundle.ts';
import { type ZipFile, zipOf } from '../../../schema/audit/zip.ts';
import type { Json, JsonObject } from '../../../schema/canonical-json.ts';
import { Refusal } from '../../../schema/errors.ts';
import type { Database } from '../../database.ts';
import type { Issuer } from '../issuer/signing-keys.ts';
import { checkpoint, proofText } from '../log/checkpoint.ts';
import { signedHead } from '../log/signed-heads.ts';
import { inclusionOf } from '../log/stored-proofs.ts';
import { receiptDocument } from '../receipt/document.ts';
import { receiptsByTask } from '../receipt/find.ts';
import type { Receipt } from '../receipt/receipt.entity.ts';
import { refusalById, refusalDocument } from '../refusal/find.ts';

interface BundleParts {
  readonly database: Database;
  readonly issuer: Issuer;
  readonly base_url: string;
  readonly profile: 'development' | 'production';
}

/**
 * One archive (ZIP) with an audit pack and everything that is needed to check it offline: the receipt or refusal of each row, the keys and
 * histories of the issuer, and proofs that each receipt is in the log under one newest tree head.
 * @throws Refusal unavailable while the log is halted, because nothing is stated about it then
 */
export async function bookBundle(
  audit: JsonObject,
  rows: readonly JsonObject[],
  parts: BundleParts,
): Promise<Uint8Array> {
  const { database, issuer, base_url, profile } = parts;
  await issuer.renew();
  const named = rows.flatMap(({ verify_url }) => documentOfRow(verify_url) ?? []);
  const tasks = named.flatMap(({ kind, id }) => (kind === 'receipt' ? [id] : []));
  const receipts = (await receiptsByTask(database, tasks)).filter(receipt => receipt !== null);
  // The checkpoint is read after the receipts, so that it covers them. No cosignatures are added, because the newest tree head is needed,
  // and witnesses may not have seen it yet.
  const newest = await checkpoint({ database, issuer, witnesses: [] }, {});
  if (newest.kind !== 'known') throw new Refusal('unavailable');
  const { tree_size } = newest.head;
  const files: ZipFile[] = [
    file(bundleFiles.export, audit),
    file(bundleFiles.jwks, issuer.jwks),
    file(bundleFiles.issuer_history, issuer.history),
    file(bundleFiles.receipt_policy_history, issuer.policyHistory),
    file(bundleFiles.revocations, issuer.revocations),
    file(bundleFiles.head, { ...(await signedHead(database, tree_size)) }),
    text(bundleFiles.checkpoint, newest.note),
    text(bundleFiles.verifier_keys, [...issuer.verifierKeys(issuer.log_origin), ''].join('\n')),
  ];
  for (const receipt of receipts) {
    files.push(file(bundledReceipt(receipt.taskId), receiptDocument(receipt, base_url, profile, tree_size)));
    files.push(text(bundledProof(receipt.taskId), await proofOf(receipt, newest, database)));
  }
  for (const { kind, id } of named) {
    const refusal = kind === 'refusal' ? await refusalById(database, id) : null;
    if (refusal !== null) files.push(file(bundledRefusal(id), refusalDocument(refusal, base_url)));
  }
  return zipOf(files);
}

interface NewestHead {
  readonly head: { readonly tree_size: number; readonly root_hash: string };
  readonly note: string;
}

async function proofOf(receipt: Receipt, { head, note }: NewestHead, database: Database): Promise<string> {
  return proofText(await inclusionOf(database, receipt, head.tree_size, head.root_hash), note);
}

const text = (name: string, content: string): ZipFile => ({ name, bytes: Buffer.from(content) });
const file = (name: string, document: Json): ZipFile => text(name, JSON.stringify(document));
