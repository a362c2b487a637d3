import type { AgentId } from '../../schema/ids.ts';
import type { NetworkName } from '../../schema/network.ts';
import type { WebhookReach } from '../../schema/webhook/url.ts';
import type { ChargePort } from '../charge-port.ts';
import type { Context } from '../context.ts';
import type { ForeignTransfers } from '../foreign-transfers.ts';
import type { ReadEvents } from '../live-feed.ts';
import { type Issuer } from '../receipt/issuer/signing-keys.ts';
import type { PaymentIndex } from '../receipt/receipt/own-transfer.ts';
import type { FreeWalletProofs } from '../wallet-proofs.ts';
import type { JobPaidBy } from './dispute/disputed-job.ts';
import type { FailedLooks } from './ingest/failed-looks.ts';
import type { BookEvent } from './ledger/event.entity.ts';
import type { RouterLookUps } from './router/look-up.ts';
import type { Reports } from './router/reports.ts';

/* The context of resolvers of this subgraph. */

export interface BookContext extends Context, ChargePort {
  readonly issuer: Issuer;
  /** One reader per process, so that equal subscribers share reads of the ledger. */
  readonly readBookEvents: ReadEvents<number, BookEvent>;
  readonly free_wallets: FreeWalletProofs;
  /** Finds payments to others on their chains. */
  readonly transfers: ForeignTransfers;
  /** Finds payments of this service's receipts by their transfers. Null if this index is turned off. */
  readonly payment_index: PaymentIndex | null;
  readonly failed_looks: FailedLooks;
  /** Addresses at which this service is paid, by network. */
  readonly treasuries: { readonly [network in NetworkName]?: string };
  /** URLs that a webhook may have. URLs on this machine are allowed only under test. */
  readonly webhook_reach: WebhookReach;
  /** Reads generations from the third-party router. Null if none is configured. */
  readonly router_look_ups: RouterLookUps | null;
  readonly reports: Reports;
  readonly jobPaidBy: JobPaidBy;
  /** Returns the wallet in EIP-55 spelling. Null if the agent does not exist. */
  walletOfAgent(agent_id: AgentId): Promise<string | null>;
}
