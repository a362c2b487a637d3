import { page } from './dom.js';

/** Longer than the service may take to ask a chain about a contract wallet. */
const ANSWER_MS_MAX = 60_000;

/**
 * Beside the page's own path, since the service may lie under one of its host; slashes at its end are served as well, and count for
 * nothing. @param {string} path
 */
function besideThisPage(path) {
  const { origin, pathname } = page.location;
  return new URL(path, origin + pathname.replace(/\/+$/, ''));
}

/**
 * Asks the service that brought the page, by a path without a slash at its start.
 * @param {string} path @param {Record<string, string>} headers @param {object} [body] makes it a POST
 * @returns {Promise<{status: number, body: any}>} status 0 where no whole answer came: whether it was heard is not known
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
