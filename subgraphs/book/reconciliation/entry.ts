import { type JsonObject, present } from '../../../schema/canonical-json.ts';
import { spelt } from '../../../schema/eip55.ts';
import { verifyUrl } from '../../../schema/links.ts';
import type { Classified, SentTransfer } from '../../../schema/reconciliation-rule.ts';
import type { KnownUse } from './known-uses.ts';

/** A transfer as the document lists it. What is not known, or nobody's to be told, is left out. */
export function entryOf(classified: Classified<SentTransfer, KnownUse>, base_url: string): JsonObject {
  const { class: of, transfer, use } = classified;
  const { block_number, log_index, tx_hash, to, amount } = transfer;
  return {
    block_number,
    log_index,
    tx_hash,
    payee: spelt(to),
    amount: amount.toString(),
    class: of,
    ...(use && { used: usedBy(use, base_url) }),
  };
}

function usedBy({ kind, book, task_id }: KnownUse, base_url: string): JsonObject {
  return present({
    by: kind,
    book: book ?? 'none',
    task_id: task_id ?? undefined,
    verify_url: task_id === null ? undefined : verifyUrl(base_url, task_id),
  });
}
