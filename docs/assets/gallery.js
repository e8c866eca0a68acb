// Filters the cards of the gallery by words and lists. Without this script all cards are shown.
document.addEventListener("DOMContentLoaded", () => {
  const controls = document.querySelector(".gallery-controls");
  if (!controls) return;
  const cards = [...document.querySelectorAll(".gallery .family")];
  const texts = cards.map((card) => card.textContent.toLowerCase());
  const lists = [...controls.querySelectorAll("select")];
  const count = controls.querySelector("output");
  const show = () => {
    const words = controls.elements.words.value.toLowerCase().split(/\s+/).filter(Boolean);
    let shown = 0;
    cards.forEach((card, place) => {
      const fits = words.every((word) => texts[place].includes(word))
        && lists.every((list) => !list.value || card.dataset[list.name] === list.value);
      card.hidden = !fits;
      shown += fits;
    });
    count.textContent = `${shown} of ${cards.length} families`;
  };
  controls.hidden = false;
  document.querySelector(".gallery-count").hidden = true;
  controls.addEventListener("input", show);
  controls.addEventListener("submit", (event) => event.preventDefault());
  show();
});
