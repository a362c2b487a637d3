import { limits } from '../../../schema/limits.ts';

/** The service with 5 seconds instead of 20 for streams to end once it must stop. */
Object.assign(limits, { stream_stop_ms_max: 5_000 } satisfies Partial<Record<keyof typeof limits, number>>);

await import('../../../gateway/main.ts');
