import { limits } from '../../../schema/limits.ts';

/** The service with shorter time limits, so that a test waits seconds instead of half a minute, and with a lower limit on connections. */
Object.assign(limits, {
  request_headers_ms_max: 2_000,
  request_ms_max: 3_500,
  request_checked_every_ms: 250,
  socket_init_ms_max: 2_000,
  connection_silent_ms_max: 4_000,
  connection_idle_ms_max: 4_000,
  connections_per_address_max: 600,
} satisfies Partial<Record<keyof typeof limits, number>>);

await import('../../../gateway/main.ts');
