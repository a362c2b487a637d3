import type { CompleteConfig, Config } from './read-config.ts';
import type { SolanaConfig } from './solana.ts';

/** What the gateway runs on where the environment names every service; null where one of them is left to a stand-in. */
export function namedServices(complete: CompleteConfig): Config | null {
  const { database_url, base_rpc_url, hubs, router_url, router_models: models } = complete;
  // A facilitator settles with keys of its own.
  const facilitator_keys = complete.facilitator_keys ?? (complete.facilitator_url ? [] : null);
  const solana = complete.without_solana ? null : namedSolana(complete);
  if (!database_url || !base_rpc_url || !hubs || !facilitator_keys || solana === 'unnamed') return null;
  const router = router_url === null ? null : { base_url: router_url, models };
  const subgraph_urls = complete.subgraph_urls ?? {};
  return { ...complete, database_url, base_rpc_url, hubs, facilitator_keys, solana, router, subgraph_urls };
}

function namedSolana(complete: CompleteConfig): SolanaConfig | 'unnamed' {
  const { solana_rpc_url: rpc_url, pay_to_solana: pay_to, facilitator_url } = complete;
  const fee_payer_key = facilitator_url ? null : complete.solana_fee_payer_key;
  if (!rpc_url || (!facilitator_url && !fee_payer_key)) return 'unnamed';
  return { rpc_url, pay_to, fee_payer_key };
}
