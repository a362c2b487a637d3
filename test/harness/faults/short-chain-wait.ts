import { configuredSettling } from '../../../gateway/rails/open-rails.ts';
import type { WorkerGatewayOptions } from '../worker-gateway.ts';

const WAIT_MS = 2_000;

/** The service with a limit of two seconds instead of twenty for a caller's wait for the chain. */
export const shortChainWait: WorkerGatewayOptions = {
  openSettling: configuredSettling(undefined, WAIT_MS),
  wait_ms: WAIT_MS,
};
