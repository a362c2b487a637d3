/* The service that wallets and sessions of a test sign for by default, which is the one that was opened last. */

let base_url = '';

/** Must be called with the base URL of each service that is opened. */
export function setAudience(url: string): void {
  base_url = url;
}

export const audience = (): string => base_url;
