import { page } from './dom.js';

/** Longer than the service may take to check the signature of a contract wallet on its chain. */
const ANSWER_MS_MAX = 60_000;

/**
 * Relative to the page's own path, because the service may be at a path of its host. Slashes at the end are ignored. @param {string} path
 */
function besideThisPage(path) {
  const { origin, pathname } = page.location;
  return new URL(path, origin + pathname.replace(/\/+$/, ''));
}

/**
 * Sends a request to the service of the page, at a path without a leading slash.
 * @param {string} path @param {Record<string, string>} headers @param {object} [body] makes it a POST
 * @returns {Promise<{status: number, body: any}>} status 0 if no complete response arrived: the service may have received the request
 */
export async function askService(path, headers, body) {
  try {
    const answer = await fetch(besideThisPage(path), {
      ...(body && { method: 'POST', body: JSON.stringify(body) }),
      headers: { ...headers, ...(body && { 'content-type': 'application/json' }) },
      cache: 'no-store',
      credentials: 'omit',
      redirect: 'error',
      signal: AbortSignal.timeout(ANSWER_MS_MAX),
    });
    const text = await answer.text();
    // A refusal of possession has no body.
    return { status: answer.status, body: text === '' ? {} : JSON.parse(text) };
  } catch {
    return { status: 0, body: {} };
  }
}
