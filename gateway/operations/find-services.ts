import { type Config, completeConfig, deepFreeze, namedServices, type Settings } from '../config/read-config.ts';

/** A configuration in which every service has an address. */
export interface FoundServices {
  readonly config: Config;
  /** Stops the stand-ins that were started for this process. */
  stop(): Promise<void>;
}

interface FindOptions {
  /** Whether the address of this process is announced in `development.json`. */
  readonly announce?: boolean;
}

/**
 * Finds all services. Production uses the configured services and does not load `development/`, whose packages need not be installed.
 * Elsewhere each service that is not configured gets a stand-in.
 */
export async function findServices(settings: Settings, options: FindOptions = {}): Promise<FoundServices> {
  if (settings.profile === 'production') {
    const named = namedServices(await completeConfig(settings));
    // The check of the settings has reported missing variables, so this fault is not one of the operator.
    if (!named) throw new Error('production requires all services to be configured');
    return { config: deepFreeze(named), stop: async () => {} };
  }
  const { startDevelopment } = await import('../development/start.ts');
  return startDevelopment(settings, options);
}
