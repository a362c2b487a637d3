import { canonicalJson, type JsonObject } from '../../../schema/canonical-json.ts';
import { documents } from '../../../schema/documents.ts';
import { checksummedAddress } from '../../../schema/eip55.ts';
import { jwksUri } from '../../../schema/links.ts';
import { networks } from '../../../schema/network.ts';
import { RECONCILIATION_DOES_NOT_PROVE, transferClassMeans } from '../../../schema/reconciliation.ts';
import { RECONCILIATION_RULE_VERSION } from '../../../schema/reconciliation-rule.ts';
import { iso } from '../../clock.ts';
import type { BookContext } from '../context.ts';
import { knownWallets } from './page.ts';
import type { StoredReconciliation } from './reconciliation.entity.ts';

interface ReportParts {
  readonly report: StoredReconciliation;
  /** The first transfers of the report, in the order of the chain. */
  readonly entries: readonly JsonObject[];
  readonly final: boolean;
  /** Time by the clock of the database. */
  readonly now_ms: number;
}

/**
 * Makes the document svc402.reconciliation.v1 in canonical JSON. It has the class of each transfer of a wallet between two blocks
 * named by hash, and a `signature` (ES256 over canonical JSON).
 */
export function signedReconciliation(
  { issuer, profile }: Pick<BookContext, 'issuer' | 'profile'>,
  { report, entries, final, now_ms }: ReportParts,
): string {
  const { base, caip2, usdc } = { ...networks.base, base: networks.base.name };
  const payees = entries.filter(entry => entry.class === 'self_dealt').map(({ payee }) => String(payee));
  const payload: JsonObject = {
    ...(profile === 'development' && { profile }),
    schema: documents.reconciliation,
    iss: issuer.base_url,
    verify_jwks: jwksUri(issuer.base_url),
    report_id: report.reportId,
    agent_id: report.agentId,
    wallet: report.wallet,
    wallet_proven_by: report.provenBy,
    network: base,
    chain: caip2,
    asset: usdc,
    from_block: report.fromBlock,
    from_block_hash: report.fromHash,
    to_block: report.toBlock,
    to_block_hash: report.toHash,
    final,
    own_wallets: [...new Set([...knownWallets(report).map(checksummedAddress), ...payees])].sort(),
    asked_at: iso(report.askedAt.getTime()),
    reported_at: iso(now_ms),
    log_size: report.logSize,
    rule_version: RECONCILIATION_RULE_VERSION,
    transfers: [...entries],
    transfers_total: report.transfers,
    truncated: entries.length < report.transfers,
    sums: report.sums,
    means: transferClassMeans,
    does_not_prove: RECONCILIATION_DOES_NOT_PROVE,
  };
  const value = issuer.signCanonical(canonicalJson(payload));
  return canonicalJson({ ...payload, signature: { alg: 'ES256', kid: issuer.kid, value } });
}
