// Opens the page on a folder that wants something, by keyboard: shows what it brings, begins a
// session, and decides. Prints one JSON line a step; anything unexpected ends it with 1.
//
//   node e2e/trust.mjs LINK DECISION
import { existsSync } from "node:fs";
import { chromium } from "playwright-core";

const [link, decision] = process.argv.slice(2);
const executablePath = ["/usr/bin/chromium", "/usr/bin/chromium-browser"].find(existsSync);
const browser = await chromium.launch({
  executablePath,
  args: ["--no-sandbox", "--disable-gpu", "--disable-quic", "--disable-background-networking"],
});

function say(step) {
  process.stdout.write(`${JSON.stringify(step)}\n`);
}

/** The key leads to the card; a new session takes the focus once more when it is there. */
async function goTo(page, card) {
  const heading = card.getByRole("heading");
  for (let tries = 0; tries < 50; tries += 1) {
    await page.keyboard.press("Control+j");
    await page.waitForTimeout(200);
    if (await heading.evaluate((element) => element === document.activeElement)) return;
  }
  throw new Error("the key does not lead to the card");
}

try {
  const page = await browser.newPage({ viewport: { width: 1280, height: 800 } });
  page.on("pageerror", (error) => say({ error: String(error) }));
  await page.goto(link);
  await page.getByRole("button", { name: "New session" }).first().click();
  const card = page.getByRole("region", { name: "What this folder brings" });
  await card.waitFor();
  await goTo(page, card);
  await page.keyboard.press("Tab");
  await page.keyboard.press("Enter");
  await card.locator("li").first().waitFor();
  say({ brings: await card.locator("li").allTextContents() });
  await page.keyboard.press("Tab");
  if (decision !== "trust") await page.keyboard.press("Tab");
  await page.keyboard.press("Enter");
  await card.waitFor({ state: "detached" });
  say({ decided: decision });
} catch (error) {
  say({ error: String(error) });
  process.exitCode = 1;
} finally {
  await browser.close();
}
