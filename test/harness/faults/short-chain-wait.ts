import { configuredSettling } from '../../../gateway/rails/open-rails.ts';
import type { WorkerGatewayOptions } from '../worker-gateway.ts';

const WAIT_MS = 2_000;

/** The service, but that a caller waits two seconds for the chain and not twenty. */
export const shortChainWait: WorkerGatewayOptions = {
  openSettling: configuredSettling(undefined, WAIT_MS),
  wait_ms: WAIT_MS,
};
