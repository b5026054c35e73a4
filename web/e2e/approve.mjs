// Drives the page in a real Chromium, by keyboard: opens the link, asks for a change, allows what
// is asked, waits for the answer. Prints one JSON line a step; anything unexpected ends it with 1.
//
//   node e2e/approve.mjs LINK PROMPT EXPECTED [SCREENSHOT]
import { existsSync } from "node:fs";
import { chromium } from "playwright-core";

const [link, prompt, expected, screenshot] = process.argv.slice(2);
const executablePath = ["/usr/bin/chromium", "/usr/bin/chromium-browser"].find(existsSync);
const browser = await chromium.launch({
  executablePath,
  args: ["--no-sandbox", "--disable-gpu", "--disable-quic", "--disable-background-networking"],
});

function say(step) {
  process.stdout.write(`${JSON.stringify(step)}\n`);
}

/** The page must talk to nobody but its own server, and break no rule of its policy. */
function watch(page) {
  const own = new URL(link).origin;
  page.on("request", (request) => {
    const url = new URL(request.url());
    if (url.protocol.startsWith("http") && url.origin !== own) say({ foreign: request.url() });
  });
  page.on("console", (message) => {
    if (message.type() === "error") say({ error: message.text() });
  });
  page.on("pageerror", (error) => say({ error: String(error) }));
}

async function allowEverything(page, until) {
  const asked = page.getByRole("region", { name: "Needs you" });
  const end = page.getByText(until, { exact: false }).last();
  for (;;) {
    await Promise.race([
      asked.waitFor({ state: "visible", timeout: 20000 }),
      end.waitFor({ state: "visible", timeout: 20000 }),
    ]);
    if (await end.isVisible()) return;
    say({ asked: (await asked.textContent())?.replace(/\s+/g, " ") });
    if (screenshot) await page.screenshot({ path: screenshot });
    await page.keyboard.press("Control+j");
    const before = await asked.getAttribute("data-request");
    await allowOne(page, asked, before);
  }
}

/** Keys rest for half a second after a request appears: press until the request has gone. */
async function allowOne(page, asked, before) {
  for (let tries = 0; tries < 100; tries += 1) {
    await page.keyboard.press("1");
    const gone = await asked
      .and(page.locator(`[data-request="${before}"]`))
      .waitFor({ state: "detached", timeout: 200 })
      .then(
        () => true,
        () => false,
      );
    if (gone) return say({ allowed: true });
  }
  throw new Error("the request does not go");
}

try {
  const page = await browser.newPage({ viewport: { width: 1280, height: 800 } });
  watch(page);
  await page.goto(link);
  await page.getByRole("button", { name: "New session" }).first().click();
  const message = page.getByRole("textbox", { name: "Message" });
  await message.fill(prompt);
  await page.keyboard.press("Enter");
  await allowEverything(page, expected);
  say({ done: true, hash: new URL(page.url()).hash });
  await page.reload();
  await page.getByText(expected, { exact: false }).last().waitFor({ timeout: 20000 });
  say({ reloaded: true });
} catch (error) {
  say({ error: String(error) });
  process.exitCode = 1;
} finally {
  await browser.close();
}
