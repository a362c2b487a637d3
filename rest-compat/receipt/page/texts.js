/*
 * Texts of amounts and times on pages. Amounts are formatted by their digits, never as floats.
 */

/** Digits behind the point of a unit of each rail. @type {Record<string, number>} */
const decimals = { usdc: 6, xno: 30 };

/** Atomic units of a rail as money. @param {unknown} atomic @param {unknown} rail */
export function moneyText(atomic, rail) {
  const places = decimals[String(rail)];
  if (places === undefined || !/^\d+$/.test(String(atomic))) return `${atomic} of ${rail}`;
  const digits = String(atomic).padStart(places + 1, '0');
  const [whole, parts] = [digits.slice(0, -places), digits.slice(-places).replace(/0+$/, '')];
  return `${whole}.${parts.padEnd(2, '0')} ${String(rail).toUpperCase()}`;
}

/** Atomic USDC as money. @param {unknown} atomic */
export const usdcText = atomic => (/^\d+$/.test(String(atomic)) ? moneyText(atomic, 'usdc') : String(atomic));

/** @param {unknown} time ISO 8601 */
export const timeText = time =>
  String(time ?? '')
    .replace('T', ' ')
    .replace(/(\.\d+)?Z$/, ' UTC');
