import { limits } from '../../../schema/limits.ts';

/** The service, which gives streams 5 seconds to come to their end when it is told to stop, and not 20. */
Object.assign(limits, { stream_stop_ms_max: 5_000 } satisfies Partial<Record<keyof typeof limits, number>>);

await import('../../../gateway/main.ts');
