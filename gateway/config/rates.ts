import { z } from 'zod';

/** A limit of `count` uses per `seconds`. After a pause all of them may come at once. */
export interface Rate {
  readonly count: number;
  readonly seconds: number;
}

/** Names of the limits, as in the rate policy header and in the variables. */
const rateNames = ['free', 'credentials', 'unproven', 'uncharged', 'ingests'] as const;
export type RateName = (typeof rateNames)[number];

export type RateSettings = Readonly<Record<RateName, Rate>> & {
  /** Maximum number of bytes of request bodies that one client address may send at the same time. */
  readonly bodies_bytes_max: number;
};

/* Rate limits: their form, the defaults of production and development, and the configured values. */

/** Schema of `<count>/<seconds>`. */
export function rate() {
  return z
    .string()
    .meta({ form: '`<count>/<seconds>`' })
    .regex(/^[1-9][0-9]{0,8}\/[1-9][0-9]{0,4}$/, 'not <count>/<seconds>, such as 60/60')
    .transform(text => {
      const [count = 0, seconds = 0] = text.split('/').map(Number);
      return { count, seconds };
    });
}

/**
 * Default limits. Those of development are enough for a thousand calls at once from one address, followed by a whole test suite.
 */
const defaultRates: Readonly<Record<'production' | 'development', RateSettings>> = {
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

/** Default of a limit, as shown in the list of variables. */
export function usualRate(name: keyof RateSettings): string {
  const said = (rates: RateSettings) => {
    const usual = rates[name];
    return typeof usual === 'number' ? String(usual) : `${usual.count}/${usual.seconds}`;
  };
  return `${said(defaultRates.production)}; in development ${said(defaultRates.development)}`;
}

interface RateVariables {
  readonly RATE_FREE?: RateSettings['free'] | undefined;
  readonly RATE_CREDENTIALS?: RateSettings['credentials'] | undefined;
  readonly RATE_UNPROVEN?: RateSettings['unproven'] | undefined;
  readonly RATE_UNCHARGED?: RateSettings['uncharged'] | undefined;
  readonly RATE_INGESTS?: RateSettings['ingests'] | undefined;
  readonly BODIES_BYTES_MAX?: number | undefined;
}

/** The limits that are set, with defaults for the others. */
export function ratesOf(given: RateVariables, profile: 'production' | 'development'): RateSettings {
  const usual = defaultRates[profile];
  return {
    free: given.RATE_FREE ?? usual.free,
    credentials: given.RATE_CREDENTIALS ?? usual.credentials,
    unproven: given.RATE_UNPROVEN ?? usual.unproven,
    uncharged: given.RATE_UNCHARGED ?? usual.uncharged,
    ingests: given.RATE_INGESTS ?? usual.ingests,
    bodies_bytes_max: given.BODIES_BYTES_MAX ?? usual.bodies_bytes_max,
  };
}
