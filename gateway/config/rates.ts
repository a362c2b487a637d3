import { z } from 'zod';

/** `count` uses in `seconds`; after a rest all of them may come at once. */
export interface Rate {
  readonly count: number;
  readonly seconds: number;
}

/** What is bounded, by name: the name stands in the policy's header and in the variable that sets it. */
const rateNames = ['free', 'credentials', 'unproven', 'uncharged', 'ingests'] as const;
export type RateName = (typeof rateNames)[number];

export type RateSettings = Readonly<Record<RateName, Rate>> & {
  /** Bytes of bodies that are on their way from one address at once. */
  readonly bodies_bytes_max: number;
};

/* How many in how many seconds: the form, what is usual in development and in production, and what is set. */

/** `<count>/<seconds>`: so many in so many seconds. */
export function rate() {
  return z
    .string()
    .meta({ form: '`<count>/<seconds>`' })
    .regex(/^[1-9][0-9]{0,8}\/[1-9][0-9]{0,4}$/, 'not <count>/<seconds>')
    .transform(text => {
      const [count = 0, seconds = 0] = text.split('/').map(Number);
      return { count, seconds };
    });
}

/** High enough in development for a thousand calls at once from one address, and for a whole suite of tests behind it. */
const usualRates: Readonly<Record<'production' | 'development', RateSettings>> = {
  production: {
    free: { count: 1_200, seconds: 60 },
    credentials: { count: 60, seconds: 60 },
    unproven: { count: 120, seconds: 60 },
    uncharged: { count: 20, seconds: 600 },
    ingests: { count: 20, seconds: 600 },
    bodies_bytes_max: 32 * 1024 * 1024,
  },
  development: {
    free: { count: 1_000_000, seconds: 60 },
    credentials: { count: 100_000, seconds: 60 },
    unproven: { count: 100_000, seconds: 60 },
    uncharged: { count: 1_000, seconds: 60 },
    ingests: { count: 1_000, seconds: 60 },
    bodies_bytes_max: 1024 * 1024 * 1024,
  },
};

/** What holds where the variable of that setting is unset, as the table of variables says it. */
export function usualRate(name: keyof RateSettings): string {
  const said = (rates: RateSettings) => {
    const usual = rates[name];
    return typeof usual === 'number' ? String(usual) : `${usual.count}/${usual.seconds}`;
  };
  return `${said(usualRates.production)}; in development ${said(usualRates.development)}`;
}

interface Given {
  readonly RATE_FREE?: RateSettings['free'] | undefined;
  readonly RATE_CREDENTIALS?: RateSettings['credentials'] | undefined;
  readonly RATE_UNPROVEN?: RateSettings['unproven'] | undefined;
  readonly RATE_UNCHARGED?: RateSettings['uncharged'] | undefined;
  readonly RATE_INGESTS?: RateSettings['ingests'] | undefined;
  readonly BODIES_BYTES_MAX?: number | undefined;
}

/** What is set, and what is usual for the rest. */
export function ratesOf(given: Given, profile: 'production' | 'development'): RateSettings {
  const usual = usualRates[profile];
  return {
    free: given.RATE_FREE ?? usual.free,
    credentials: given.RATE_CREDENTIALS ?? usual.credentials,
    unproven: given.RATE_UNPROVEN ?? usual.unproven,
    uncharged: given.RATE_UNCHARGED ?? usual.uncharged,
    ingests: given.RATE_INGESTS ?? usual.ingests,
    bodies_bytes_max: given.BODIES_BYTES_MAX ?? usual.bodies_bytes_max,
  };
}
