/* Which service wallets and sessions of a test sign for, unless it says another: that which was opened last. */

let base_url = '';

/** Called by whoever opens a service, with what that calls itself. */
export function setAudience(url: string): void {
  base_url = url;
}

export const audience = (): string => base_url;
